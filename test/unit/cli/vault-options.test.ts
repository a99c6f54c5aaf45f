/**
 * Options for a vault and its key: a command has all of them, or says why not.
 * @module
 */
import { expect, test } from 'bun:test'
import { Command } from 'commander'
import { buildProgram } from '../../../src/cli/program.ts'
import { takesVault } from '../../../src/cli/vault-options.ts'

type StoreChoice = Parameters<typeof takesVault>[1]

const below = (command: Command): readonly Command[] =>
  command.commands.flatMap(one => [one, ...below(one)])

const flagsOf = ({ options }: Command): readonly string[] =>
  options.flatMap(({ long }) => long ?? [])

const nameOf = (command: Command): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim()

const program = buildProgram()
const takingKeys = below(program).filter(command =>
  command.options.some(({ envVar }) => envVar === 'COFFER_MASTER_KEY_FILE'),
)

test('a command that takes the master key from a file takes it from every place', () => {
  expect(takingKeys.length).toBeGreaterThan(20)
  const sources = ['--data', '--master-key-credential', '--passphrase', '--passphrase-fd']
  for (const command of takingKeys) {
    expect([nameOf(command), flagsOf(command)]).toEqual([
      nameOf(command),
      expect.arrayContaining(sources),
    ])
  }
})

test('no other command takes one, or names a database', () => {
  const others = below(program).filter(command => !takingKeys.includes(command))
  const those = others.filter(command =>
    flagsOf(command).some(flag => /^--(?:passphrase|store|master-key)/.test(flag)),
  )
  // Its options are texts for the unit that it prints.
  expect(those.map(nameOf)).toEqual(['systemd print'])
  expect(flagsOf(those[0] ?? program)).not.toContain('--store')
})

test('commands that work on the files of a folder name no database', () => {
  const without = takingKeys.filter(command => !flagsOf(command).includes('--store')).map(nameOf)
  const ofFiles = ['backup', 'backup list', 'restore', 'compact', 'move', 'keys split', 'keys join']
  expect(without).toEqual(ofFiles)
})

test('a command says how it takes the store, or does not compile', () => {
  // @ts-expect-error: nothing is said
  const unsaid = () => takesVault(new Command('unsaid'))
  // @ts-expect-error: whether a folder is made on this machine first is not said
  const half: StoreChoice = { store: 'any' }
  expect(unsaid).toThrow()
  expect(half).toEqual({ store: 'any' } as StoreChoice)
})
