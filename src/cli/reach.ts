/**
 * Commands that call a vault like any client: its address, the key, and the failures.
 * @module
 */
import { Option, type Command } from 'commander'
import {
  CofferError,
  createClient,
  type Client,
  type ErrorCode,
  type Notation,
} from '../client/index.ts'
import { overSocket } from '../client/socket.ts'
import { apiKeyFileBytesMax } from '../limits/operation-limits.ts'
import { CommandFailure, type ExitCode, usage } from '../server/process/failure.ts'
import { readHanded } from '../server/folder/handed-files.ts'
import { shown } from './table.ts'

export interface ReachOptions {
  /** An address, or `unix:` and the path of a socket. */
  readonly addr?: string
  /** A file that holds the key. */
  readonly keyFile?: string
  readonly json?: boolean
}

/** Adds the options of a command that calls a vault by an address and with an API key. */
export const takesCaller = (command: Command): Command =>
  command
    .addOption(
      new Option('--addr <address>', 'of the vault, or unix: and a path').env('COFFER_ADDR'),
    )
    .addOption(
      new Option('--key-file <file>', 'with the key, if it is not in COFFER_KEY').env(
        'COFFER_KEY_FILE',
      ),
    )
    .option('--json', 'print JSON, one object a line')

const socketPrefix = 'unix:'
const socketAddress = 'http://localhost'
export const keyVariable = 'COFFER_KEY'

/** A key goes straight to its address: by no proxy, to no unproven name, and into no log. */
const direct = { proxy: false, tls: { rejectUnauthorized: true }, verbose: false }

const directly = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, ...direct } as RequestInit)

function readKeyFile(path: string): string {
  try {
    const bytes = readHanded(path, apiKeyFileBytesMax)
    if (bytes !== undefined) return bytes.toString('utf8').trim()
  } catch (error) {
    if (error instanceof CommandFailure) throw error
  }
  throw usage(`the file at ${path} of --key-file: expected one, or a pipe, that holds an API key`)
}

function keyOf({ keyFile }: ReachOptions): string {
  const key = keyFile === undefined ? process.env[keyVariable] : readKeyFile(keyFile)
  if (key !== undefined && key !== '') return key
  throw usage(`expected an API key in ${keyVariable}, or a file that holds one by --key-file`)
}

const wanted = 'an address such as https://vault.example, or unix: and the path of a socket'

/** @throws CommandFailure that repeats neither the key nor the address */
function clientOf(options: ReachOptions, json: Notation | undefined): Client {
  const { addr } = options
  if (addr === undefined) throw usage(`expected ${wanted}, by --addr or COFFER_ADDR`)
  const key = keyOf(options)
  const isSocket = addr.startsWith(socketPrefix)
  if (!isSocket && !URL.canParse(addr)) throw usage(`--addr or COFFER_ADDR: expected ${wanted}`)
  const address = isSocket ? socketAddress : addr
  const fetch = isSocket ? overSocket(addr.slice(socketPrefix.length)) : directly
  try {
    return createClient({ address, key, fetch, ...(json && { json }) })
  } catch (error) {
    throw usage((error as TypeError).message.replace('createClient: ', ''))
  }
}

const exitCodes: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  unauthenticated: 3,
  forbidden: 3,
  not_found: 4,
  conflict: 5,
  invalid_request: 6,
  payload_too_large: 6,
  uri_too_long: 6,
  unreachable: 7,
  timeout: 7,
  request_timeout: 7,
  too_many_requests: 7,
  unavailable: 7,
  storage_full: 7,
  internal: 7,
}

/** A socket has no URL, so the client was given a placeholder. */
const named = (message: string, { addr = '' }: ReachOptions): string =>
  addr.startsWith(socketPrefix)
    ? message.replace(socketAddress, `the socket ${addr.slice(socketPrefix.length)}`)
    : message

/** The key did not come in a header here. */
const wordsOf = ({ code, message }: CofferError, options: ReachOptions): string =>
  code === 'unauthenticated'
    ? 'expected a live API key in COFFER_KEY or --key-file'
    : named(message, options)

function failureOf(error: CofferError, options: ReachOptions): CommandFailure {
  if (error.code === 'not_coffer') {
    const where = options.addr ?? ''
    const message = `the answer of ${where} is not one of a vault: is the address right?`
    return new CommandFailure(shown(message), 1, error)
  }
  const trace = error.traceId === undefined ? '' : ` (trace ${error.traceId})`
  return new CommandFailure(
    shown(wordsOf(error, options) + trace),
    exitCodes[error.code] ?? 1,
    error,
  )
}

/** @throws CommandFailure, whose exit code gives the kind of error */
export async function withClient<T>(
  options: ReachOptions,
  use: (client: Client) => Promise<T>,
  json?: Notation,
): Promise<T> {
  const client = clientOf(options, json)
  try {
    return await use(client)
  } catch (error) {
    if (error instanceof CofferError) throw failureOf(error, options)
    throw error
  }
}
