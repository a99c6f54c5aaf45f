/**
 * Help of each command, as `coffer COMMAND --help` prints it without a terminal.
 * @module
 */
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'

const columns = 80

/**
 * @param words of the command, without the name of the program
 * @throws Error for an unknown command
 */
export function helpOf(words: readonly string[]): string {
  let command: Command = buildProgram()
  for (const word of words) {
    const found = command.commands.find(each => each.name() === word)
    if (found === undefined) throw new Error(`no command: ${words.join(' ')}`)
    command = found
  }
  let help = ''
  command.configureOutput({
    writeOut: text => (help += text),
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return help
}
