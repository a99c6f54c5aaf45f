/**
 * `docs/cli.md`: the help of every command, and more than help tells.
 * @module
 */
import { helpOf } from './help.ts'
import { printShape } from './print-shape.ts'
import { shapes } from './shapes.ts'

/** A command with its help. */
export interface Told {
  /** Without the name of the program; empty for the program itself. */
  readonly words: readonly string[]
  readonly help: string
}

/** Returns names of subcommands from the help. Lines with more indent continue a description. */
function namesIn(help: string): string[] {
  const [, list = ''] = help.split('\nCommands:\n')
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name)
  return names.filter(name => name !== 'help')
}

/** Returns each command that the help names, parents first. */
export function readCommands(words: readonly string[] = []): readonly Told[] {
  const help = helpOf(words).trim()
  return [{ words, help }, ...namesIn(help).flatMap(name => readCommands([...words, name]))]
}

const opening = `# Command line

Made from the help of the program by \`bun scripts/cli-docs.ts\`; \`test/docs/cli.test.ts\`
fails where it is not what the program says. What to do with it is in \`docs/operations.md\`.

## Exit codes

| Code | Means |
|---|---|
| 0 | it is done |
| 1 | it failed: what was asked for is not so, or could not be done |
| 2 | the command line, a variable, stdin or the file of settings is wrong; nothing was tried |
| 3 | no live key, or one that may not |
| 4 | there is no such thing |
| 5 | a conflict, as an id that is taken |
| 6 | the vault refuses what was sent |
| 7 | no answer, or not now; to be tried again |

3 to 7 come from commands that ask a vault as its callers do: \`token\`, \`session create\`,
\`session authorize\` and \`permissions\`.

A failure is one line on stderr, which begins with \`coffer: \`, names the cause and says what
to do about it. No line repeats a key or what is stored. \`verify\` ends with 1 for any damage
and \`doctor\` for any fault, after they have printed what they found. \`serve\` and \`dev\` end
with 0 on SIGTERM and SIGINT.

## What \`--json\` prints

One object on one line of stdout, and of \`token list\` and \`token search\` one a token;
failures stay text on stderr. A newer version may add members.
Below stand types in the place of values, and \`?\` for what may not be there.
`

function shapesPart(): string {
  const parts = Object.entries(shapes).map(
    ([command, shape]) => `\`coffer ${command} --json\`\n\n\`\`\`\n${printShape(shape)}\n\`\`\`\n`,
  )
  return parts.join('\n')
}

const commandPart = ({ words, help }: Told): string =>
  `### ${['coffer', ...words].join(' ')}\n\n\`\`\`\n${help}\n\`\`\`\n`

export const printPage = (commands: readonly Told[]): string =>
  [opening, shapesPart(), '## Commands\n', ...commands.map(commandPart)].join('\n')
