/**
 * Format of help: within 80 columns, and one style for the further facts of an option.
 * @module
 */
import { Help, type Command, type HelpConfiguration, type Option } from 'commander'

/** Columns that remain beside the longest option. */
const describedColumnsMin = 20

/** A default that is decided later is already at the end of the description. */
const told = /^(.*?)(?: \(default: (.*)\))?$/s

function describeOption({ description, defaultValue, argChoices, envVar }: Option): string {
  const [, text = '', late] = told.exec(description) ?? []
  const shown = late ?? (defaultValue === undefined ? undefined : String(defaultValue))
  const rest = [
    argChoices === undefined ? undefined : `one of: ${argChoices.join(', ')}`,
    shown === undefined ? undefined : `default: ${shown}`,
    envVar === undefined ? undefined : 'env',
  ].filter(each => each !== undefined)
  return rest.length === 0 ? text : `${text} (${rest.join('; ')})`
}

/** The parser's own `help` takes one word, and would show `keys` for `help keys rotate`. */
export const helpAsFlag = (words: readonly string[]): readonly string[] =>
  words[0] === 'help' && words.length > 2 ? [...words.slice(1), '--help'] : words

const last = new WeakSet<Option>()

/** Marks an option that many commands share: help shows it after the command's own. */
export function shownLast(option: Option): Option {
  last.add(option)
  return option
}

function placeOf(option: Option): number {
  if (option.long === '--help') return 2
  return last.has(option) ? 1 : 0
}

const visibleOptions = (command: Command): Option[] =>
  new Help().visibleOptions(command).toSorted((a, b) => placeOf(a) - placeOf(b))

/** Names of variables are too long for the columns, and follow from the flags. */
const ofVariables = `
Options with "env" are read from a variable too, which a flag stands before:
--some-name from COFFER_SOME_NAME.`

export const helpEnd = ({ command }: { readonly command: Command }): string =>
  command.options.some(({ envVar }) => envVar !== undefined) ? ofVariables : ''

export const helpForm: HelpConfiguration = {
  minWidthToWrap: describedColumnsMin,
  optionDescription: describeOption,
  visibleOptions,
}
