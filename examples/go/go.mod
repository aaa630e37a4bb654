module example.com/agents

go 1.19
