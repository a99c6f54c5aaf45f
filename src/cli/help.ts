/**
 * How help looks: within 80 columns, and one style of what else is told of an option.
 * @module
 */
import { Help, type Command, type HelpConfiguration, type Option } from 'commander'

/** Beside the longest option there are so many columns left. */
const describedColumnsMin = 20

/** A default that is decided later stands at the end of the description already. */
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

const last = new WeakSet<Option>()

/** Marks an option that many commands share: help shows it behind those of the command itself. */
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

/** Names of variables are too long for the columns, and follow from those of the flags. */
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
