/**
 * Sends one request and prints how it ended: for variables that a process reads at its start.
 *
 * Arguments: the URL, the address that its name has, and a file of authorities.
 * @module
 */
import { readFileSync } from 'node:fs'
import { parseDestination } from '../../src/egress/destination.ts'
import { makeMayReach } from '../../src/egress/public-address.ts'
import { makeSend } from '../../src/egress/send.ts'
import { systemEgress } from '../../src/egress/system-egress.ts'

const [url = '', address = '', authorities = ''] = process.argv.slice(2)
const destination = parseDestination(url)
if ('failure' in destination) throw new Error(destination.expected)
const send = makeSend({
  ...systemEgress,
  resolve: async () => [address],
  mayReach: makeMayReach([address]),
  now: () => 0,
  authorities: readFileSync(authorities, 'utf8'),
})
console.log(JSON.stringify(await send({ destination, headers: {}, body: Buffer.from('{}') })))
