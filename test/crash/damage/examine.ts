/**
 * Examines a copy of a vault: runs `coffer verify` on it, starts a server on it, and compares its
 * answers with those of the vault.
 *
 * @module
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Ended, type Running } from '../../support/coffer-process.ts'
import { ask, elementsOf, serveArguments, type Question, type StoredVault } from './stored-vault.ts'

const askedAtOnce = 25
const writes = 20
/** A start or a walk that takes longer counts as hung. */
const startMsMax = 60_000

export interface Examined {
  /** `clean`: exit code 0; `damaged`: 1 with a line that says so; `died`: anything else. */
  readonly verify: 'clean' | 'damaged' | 'died'
  /** `refused`: it ended with a line that gives the reason; `died`: without one. */
  readonly server: 'served' | 'refused' | 'died'
  /** Tokens answered with 404, then those that failed in another way. */
  readonly missing: number
  readonly unreadable: number
  /** Lists that lack tokens or failed. */
  readonly shortLists: number
  /** Answers that differ from the stored contents. */
  readonly wrong: readonly string[]
  /** Standard error of the processes, for a person to read. */
  readonly stderr: string
}

type Observed = 'right' | 'missing' | 'unreadable' | 'short' | 'wrong' | 'broken'

const isOneLine = (text: string): boolean => /^coffer: [^\n]+\n$/.test(text)
const isFault = (text: string): boolean => text.includes('fault of coffer')

function verdictOf({ exitCode, stderr }: Ended): Examined['verify'] {
  if (exitCode === 0 && stderr === '') return 'clean'
  return exitCode === 1 && isOneLine(stderr) && !isFault(stderr) ? 'damaged' : 'died'
}

async function observe(vault: StoredVault, socket: string, question: Question): Promise<Observed> {
  let status: number
  let text: string
  try {
    const response = await ask({ socket, key: vault.key }, question)
    status = response.status
    text = await response.text()
  } catch {
    return 'broken'
  }
  const { isList } = question
  if (status !== 200) return isList ? 'short' : status === 404 ? 'missing' : 'unreadable'
  if (text === question.text) return 'right'
  // If some tokens are missing, others move up to their page.
  return isList && elementsOf(text).every(token => vault.elements.has(token)) ? 'short' : 'wrong'
}

async function observeAll(vault: StoredVault, socket: string) {
  const observed: { path: string; found: Observed }[] = []
  for (let from = 0; from < vault.questions.length; from += askedAtOnce) {
    const some = vault.questions.slice(from, from + askedAtOnce)
    const answers = some.map(async question => ({
      path: question.path,
      found: await observe(vault, socket, question),
    }))
    observed.push(...(await Promise.all(answers)))
    // A vault that broke answers nothing more.
    if (observed.at(-1)?.found === 'broken') break
  }
  return observed
}

/** Makes a data folder of a vault with another database; the folder is emptied first. */
export function layOut(vault: StoredVault, data: string, database: Uint8Array): void {
  rmSync(data, { recursive: true, force: true })
  mkdirSync(join(data, 'store'), { recursive: true, mode: 0o700 })
  for (const name of ['format', 'master.key'])
    copyFileSync(join(vault.data, name), join(data, name))
  writeFileSync(join(data, 'store', 'data.mdb'), database, { mode: 0o600 })
}

async function start(data: string, socket: string): Promise<Running | string> {
  try {
    return await startCoffer(serveArguments(data, socket), {
      prefix: ['timeout', '-s', 'KILL', String(startMsMax / 1_000)],
    })
  } catch (error) {
    return String(error).replace(/^.*ended before it was ready: /s, '')
  }
}

async function serve(vault: StoredVault, data: string): Promise<Omit<Examined, 'verify'>> {
  const socket = `${data}.sock`
  const server = await start(data, socket)
  if (typeof server === 'string') {
    const nothing = { missing: 0, unreadable: 0, shortLists: 0, wrong: [], stderr: server }
    return { ...nothing, server: isOneLine(server) && !isFault(server) ? 'refused' : 'died' }
  }
  const observed = await observeAll(vault, socket)
  const exitCode = await server.end('SIGTERM')
  const count = (wanted: Observed): number =>
    observed.filter(({ found }) => found === wanted).length
  return {
    server: exitCode === 0 && count('broken') === 0 ? 'served' : 'died',
    missing: count('missing'),
    unreadable: count('unreadable'),
    shortLists: count('short'),
    wrong: observed.filter(({ found }) => found === 'wrong').map(({ path }) => path),
    stderr: await server.stderr,
  }
}

async function verifyCopy(data: string): Promise<Ended> {
  const prefix = ['timeout', '-s', 'KILL', String(startMsMax / 1_000)]
  return runCoffer(['verify', '--data', data], { prefix })
}

/** Walks first, while the copy is untouched: a server may change it. */
export async function examine(vault: StoredVault, data: string): Promise<Examined> {
  const verified = await verifyCopy(data)
  const served = await serve(vault, data)
  const stderr = `${verified.stderr}${served.stderr}`
  return { ...served, verify: verdictOf(verified), stderr }
}

/** True if every answer is the original one. */
export const isUnharmed = ({ server, missing, unreadable, shortLists, wrong }: Examined): boolean =>
  server === 'served' && missing + unreadable + shortLists + wrong.length === 0

/** Promises that a copy broke; no damage excuses one. */
export function breachesOf(examined: Examined): string[] {
  const { verify, server, wrong, stderr } = examined
  const breaches = wrong.map(path => `wrong answer: ${path}`)
  if (verify === 'died') breaches.push(`verify died: ${stderr.slice(0, 200)}`)
  if (server === 'died') breaches.push(`serve died: ${stderr.slice(0, 200)}`)
  if (verify === 'clean' && !isUnharmed(examined)) breaches.push('harm that verify does not report')
  return breaches
}

/**
 * Writes into a copy that is said to be whole, and examines it again.
 * @returns refused writes and damage, each as a text
 */
export async function writeInto(vault: StoredVault, data: string): Promise<string[]> {
  const socket = `${data}.sock`
  const target = { socket, key: vault.key }
  const server = await startCoffer(serveArguments(data, socket))
  const answers = await Promise.all(
    Array.from({ length: writes }, (_, at) =>
      ask(target, { method: 'POST', path: '/tokens', body: { type: 'token', data: at } }),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 201).length
  await server.end('SIGTERM')
  const { exitCode, stdout } = await verifyCopy(data)
  const breaches = refused === 0 ? [] : [`${refused} writes refused after a clean verify`]
  return exitCode === 0 ? breaches : [...breaches, `writes after a clean verify: ${stdout}`]
}
