"use strict";

require("./jest.cjs").retape();
