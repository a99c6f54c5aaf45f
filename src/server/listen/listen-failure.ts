/**
 * Explains why an address cannot be listened on, with the cause and a remedy.
 *
 * For a host without an address the server reports an unrelated earlier error, so names are looked
 * up first.
 * @module
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Address } from '../../settings/config.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'

/** Flags that set the address. */
export interface ListenFlags {
  readonly host: string
  readonly port: string
}

export const servingFlags: ListenFlags = { host: '--host', port: '--port' }
export const opsFlags: ListenFlags = { host: '--ops-host', port: '--ops-port' }

const socketCauses: Readonly<Record<string, string>> = {
  EACCES: 'the folder of the socket may not be written: check its owner and mode',
  EADDRINUSE: 'the socket is in use: stop that process or choose another --socket',
  ENAMETOOLONG: 'the path of the socket is too long for the system: choose a shorter --socket',
  ENOENT: 'the folder of the socket is missing: make it or choose another --socket',
  ENOTDIR: 'the folder of the socket is none: choose another --socket',
}

const privilegedPorts = 1_024

const portTaken = (number: number, flag: string): string =>
  `port ${number} is in use: stop that process or choose another ${flag}`

const tcpCauses = (
  { host, port }: ListenFlags,
  number: number,
): Readonly<Record<string, string>> => ({
  EADDRINUSE: portTaken(number, port),
  EADDRNOTAVAIL: `the address is not one of this machine: choose another ${host}`,
  EAFNOSUPPORT: `this machine has no addresses of that kind: choose another ${host}`,
  EINVAL: `nothing can listen on that address: choose another ${host}`,
})

const privileged = ({ port }: ListenFlags): string =>
  `ports below ${privilegedPorts} need a privilege (CAP_NET_BIND_SERVICE): choose another ${port}`

async function isKnownHost(host: string): Promise<boolean> {
  if (isIP(host) !== 0) return true
  try {
    await lookup(host)
    return true
  } catch {
    return false
  }
}

async function causeOf(code: string, address: Address, flags: ListenFlags): Promise<string> {
  if ('socket' in address) {
    return socketCauses[code] ?? `cannot listen there (${code}): choose another --socket`
  }
  const { host, port } = address
  if (!(await isKnownHost(host))) {
    return `no address is known for that host: choose another ${flags.host}`
  }
  if (code === 'EACCES' && port > 0 && port < privilegedPorts) return privileged(flags)
  const other = `cannot listen there (${code}): choose another ${flags.host} or ${flags.port}`
  return tcpCauses(flags, port)[code] ?? other
}

/** @returns a CommandFailure for a system error about an address; other errors unchanged */
export async function explainListening(
  error: unknown,
  address: Address,
  flags: ListenFlags = servingFlags,
): Promise<unknown> {
  const code = systemCodeOf(error)
  return code === undefined ? error : new CommandFailure(await causeOf(code, address, flags))
}
