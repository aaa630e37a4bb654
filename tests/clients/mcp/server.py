"""An MCP server over streamable HTTP: `/mcp` keeps sessions and streams, `/plain` does neither.

    server.py PORT
    server.py stdio     the same over standard input and output
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from uuid import uuid4

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse


class Seat(BaseModel):
    row: int
    window: bool


async def ask_for_seat(flight: str) -> Elicit[Seat]:
    return Elicit(f"Which seat on {flight}?", Seat)


async def ask_for_summary(text: str) -> Sample:
    question = TextContent(type="text", text=f"Sum up: {text}")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=50)


def flights() -> MCPServer:
    """A server whose tickets have identifiers of its own and of its clients'."""
    server = MCPServer("flights", log_level="ERROR")
    tickets: dict[str, dict[str, str]] = {}

    @server.tool()
    def book(flight: str, reference: str) -> dict[str, str]:
        """Books a ticket; the reference is the client's."""
        ticket = {"ticket": f"tkt_{uuid4().hex[:24]}", "flight": flight, "reference": reference}
        tickets[ticket["ticket"]] = ticket
        return ticket

    @server.tool()
    def cancel(ticket: str) -> str:
        """Gives a ticket back."""
        if ticket not in tickets:
            raise ToolError(f"There is no ticket {ticket!r}")
        return f"{ticket} for {tickets.pop(ticket)['reference']} is cancelled"

    @server.tool()
    async def board(groups: int, ctx: Context) -> str:
        """Tells of each group that boards."""
        for group in range(1, groups + 1):
            await ctx.report_progress(group, groups, f"group {group}")
        return f"{groups} groups are on board"

    @server.tool()
    async def wait(gate: str, ctx: Context) -> str:
        """Says that it waits, and never comes back."""
        await ctx.report_progress(1, message=f"waiting at {gate}")
        await anyio.sleep_forever()
        return "unreachable"

    @server.tool()
    async def choose(flight: str, seat: Annotated[Seat, Resolve(ask_for_seat)]) -> str:
        """Asks the client for a seat."""
        return f"{flight}: row {seat.row}, {'window' if seat.window else 'aisle'}"

    @server.tool()
    async def shorten(
        text: str, summary: Annotated[CreateMessageResult, Resolve(ask_for_summary)]
    ) -> str:
        """Has the client's model sum up a text."""
        return f"{summary.model} says: {summary.content.text}"

    @server.tool()
    def crash() -> str:
        """Does not work."""
        raise ToolError("no fuel")

    @server.resource("flight://board")
    def departures() -> str:
        """What leaves when."""
        return "LX 38 09:10\nLX 40 13:05"

    @server.resource("ticket://{ticket}")
    def ticket(ticket: str) -> str:
        """A ticket that was booked."""
        if ticket not in tickets:
            raise ResourceNotFoundError(f"There is no ticket {ticket!r}")
        return str(tickets[ticket])

    @server.prompt()
    def ask_for_flight(city: str) -> str:
        """Asks for flights to a city."""
        return f"Which flights go to {city}?"

    return server


def application() -> Starlette:
    keeping, plain = flights(), flights()
    apps = [
        keeping.streamable_http_app(streamable_http_path="/mcp"),
        plain.streamable_http_app(
            streamable_http_path="/plain", stateless_http=True, json_response=True
        ),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with keeping.session_manager.run(), plain.session_manager.run():
            yield

    app = Starlette(routes=[route for app in apps for route in app.routes], lifespan=lifespan)
    app.add_route("/ready", _ready)
    return app


async def _ready(_: Request) -> PlainTextResponse:
    return PlainTextResponse("yes")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        flights().run("stdio")
        sys.exit()
    uvicorn.run(application(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
