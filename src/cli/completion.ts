/**
 * `coffer completion`: completions for a shell, as a script of that shell.
 *
 * The script is made from the declared commands and runs no program while somebody types: words on
 * the line may be secret, and are never evaluated.
 * @module
 */
import type { Command, Option } from 'commander'
import { usage } from '../server/process/failure.ts'
import { sayNow } from '../server/process/system.ts'
import {
  bashScript,
  fishScript,
  zshScript,
  type CompletedCommand,
  type CompletedOption,
} from './completion-scripts.ts'

function optionOf({
  long,
  description,
  required,
  optional,
  argChoices,
}: Option): CompletedOption[] {
  if (long === undefined || long === null) return []
  const takesValue = required || optional
  return [
    { flag: long, describes: description, ...(takesValue ? { values: argChoices ?? [] } : {}) },
  ]
}

/** Reads a command and all its subcommands, except hidden ones. */
function readCommands(command: Command, words: readonly string[]): CompletedCommand[] {
  const help = command.createHelp()
  const below = help.visibleCommands(command)
  const own = {
    words,
    below: below.map(one => ({ name: one.name(), describes: one.description() })),
    options: help.visibleOptions(command).flatMap(optionOf),
    takesArguments: command.registeredArguments.length > 0,
  }
  const declared = below.filter(one => command.commands.includes(one))
  return [own, ...declared.flatMap(one => readCommands(one, [...words, one.name()]))]
}

const scripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** @throws CommandFailure for a shell without a script */
function printCompletion(program: Command, shell: string): void {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) {
    const known = Object.keys(scripts).join(', ')
    throw usage(`completion: expected one of ${known}`)
  }
  sayNow(...script(readCommands(program, [])).split('\n'))
}

export function addCompletion(program: Command): void {
  program
    .command('completion <shell>')
    .description('print a script that makes bash, zsh or fish complete commands and options')
    .action((shell: string) => printCompletion(program, shell))
}
