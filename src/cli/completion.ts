/**
 * `coffer completion`: what a shell completes, as a script of that shell.
 *
 * It is made from the commands as they are declared, and runs nothing while somebody types: what
 * stands on the line may be secret, and is never evaluated.
 * @module
 */
import type { Command, Option } from 'commander'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
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

/** Of a command and of all that are below it, but those that help does not tell of. */
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

/** @throws CommandFailure for a shell that has none */
function printCompletion(program: Command, shell: string): void {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) {
    const known = Object.keys(scripts).join(', ')
    throw new CommandFailure(`completion: expected one of ${known}`, usageExitCode)
  }
  sayNow(...script(readCommands(program, [])).split('\n'))
}

export function addCompletion(program: Command): void {
  program
    .command('completion <shell>')
    .description('print a script that makes bash, zsh or fish complete commands and options')
    .action((shell: string) => printCompletion(program, shell))
}
