"""An MCP server over streamable HTTP, for the Letta server to use: `mcp_server.py PORT`."""

import sys

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel


class Address(BaseModel):
    street: str
    number: int


class Person(BaseModel):
    name: str
    address: Address


def calculator() -> MCPServer:
    server = MCPServer("calculator", log_level="ERROR")

    @server.tool()
    def echo(message: str) -> str:
        """Says what it is told."""
        return f"Echo: {message}"

    @server.tool()
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return str(a + b)

    @server.tool()
    def multiply(a: int, b: int) -> str:
        """Multiplies two numbers."""
        return str(a * b)

    @server.tool()
    def reverse_string(text: str) -> str:
        """Turns a text round."""
        return text[::-1]

    @server.tool()
    def create_person(person: Person) -> str:
        """Takes a person, who has an address."""
        return f"{person.name}, {person.address.number} {person.address.street}"

    return server


if __name__ == "__main__":
    calculator().run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
