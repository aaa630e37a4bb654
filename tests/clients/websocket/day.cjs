// Preloaded into a server that tells its model which time it is: it starts at noon of the same day, since the model
// counts the letters.
const real = Date;
const behind = real.now() - real.UTC(2026, 10, 25, 12);
const now = () => real.now() - behind;
globalThis.Date = new Proxy(real, {
  construct: (of, words, made) => Reflect.construct(of, words.length ? words : [now()], made),
  apply: () => new real(now()).toString(),
  get: (of, name) => (name === "now" ? now : Reflect.get(of, name)),
});
