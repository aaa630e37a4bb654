"""Asks both servers with requests, httpx, aiohttp and the OpenAI SDK. Nothing here knows of retape."""

import asyncio
import sys

import aiohttp
import httpx
import openai
import requests

agent, model = sys.argv[1:3]
for get in (requests.get, httpx.get):
    for url in (f"{agent}/v1/agents", f"{model}/v1/models"):
        print(get.__module__, get(url).json())


async def ask():
    async with aiohttp.ClientSession(trust_env=True) as session:
        for url in (f"{agent}/v1/agents", f"{model}/v1/models"):
            async with session.get(url) as answer:
                print("aiohttp", await answer.json())


asyncio.run(ask())
client = openai.OpenAI(base_url=f"{model}/v1", api_key="none")
question = [{"role": "user", "content": "hi"}]
for chunk in client.chat.completions.create(model="small", messages=question, stream=True):
    print("openai", chunk.choices[0].delta.content)
