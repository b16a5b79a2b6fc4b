# SPDX-License-Identifier: Apache-2.0
"""The commands of a program and their options, parsed from its --help."""
import dataclasses
import re
import subprocess


@dataclasses.dataclass
class Command:
    """One command; `words` are its name parts after the program's name."""

    words: list
    help: str
    options: dict  # maps an option such as "--jobs" to its value: None, a list of words, or "" for anything
    commands: list  # of Command
    files: bool  # whether it takes files

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()

    def sentence(self):
        """The first sentence of the description, without the full stop."""
        text = self.help.split("\n\n")[0].replace("\n", " ").strip()
        return re.split(r"[.:] ", text + " ")[0].rstrip(". ")


def tree(program, words=()):
    """The program's commands, read from the --help of each."""
    text = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    options = {}
    for line in re.findall(r"^  (-\S.*?)(?:  .*)?$", text, re.MULTILINE):
        names = re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", line.split(" Excludes:")[0].split(" ")[0].replace(",", " "))
        rest = line.split(" Excludes:")[0].partition(" ")[2]
        choices = re.search(r"\{([^}]*)\}", rest)
        for name in names:
            options[name] = choices[1].split(",") if choices else ("" if rest else None)
    below = text.partition("\nSubcommands:\n")[2]
    commands = [tree(program, (*words, name)) for name in re.findall(r"^  ([a-z][\w-]*)", below, re.MULTILINE)]
    return Command(list(words), text, options, commands, "\nPositionals:\n" in text)
