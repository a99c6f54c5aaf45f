/**
 * The address of a request, and ranges that count as one address.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  callerBehind,
  makeClientAddress,
  makeEnterAddress,
} from '../../../src/http/client-address.ts'
import type { Origins } from '../../../src/http/keep-alive.ts'
import { networkOf } from '../../../src/lib/ip.ts'
import { openTestVault } from '../../support/vault.ts'

const isOurs = (address: string) => address.startsWith('10.') || address === 'fd00::1'

describe('the caller', () => {
  // proves E24.7, S34
  test.each([
    ['is the peer', '192.0.2.1', null, '192.0.2.1'],
    ['is a peer that is not trusted, whatever it says', '192.0.2.1', '10.0.0.1', '192.0.2.1'],
    ['is whom a trusted proxy names', '10.0.0.1', '192.0.2.9', '192.0.2.9'],
    ['is named before each trusted proxy', '10.0.0.1', '192.0.2.9, fd00::1,10.0.0.2', '192.0.2.9'],
    ['is not what stands left of that', '10.0.0.1', '198.51.100.7, 192.0.2.9', '192.0.2.9'],
    ['is not what a caller claims', '10.0.0.1', '10.0.0.9, 192.0.2.9', '192.0.2.9'],
    ['is the farthest proxy where all are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['may be named with a port', '10.0.0.1', '192.0.2.9:4711', '192.0.2.9'],
    ['may be named with brackets', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['has no zone, which is any text', '10.0.0.1', 'fe80::1%4111111111111111', 'fe80::1'],
    ['is of IPv4 where it is mapped', '10.0.0.1', '::FFFF:192.0.2.9', '192.0.2.9'],
    ['is the proxy where it names nobody', '10.0.0.1', '192.0.2.9, unknown', '10.0.0.1'],
    ['is the proxy where it says nothing', '10.0.0.1', '', '10.0.0.1'],
    ['is the proxy where it says only commas', '10.0.0.1', ',,', '10.0.0.1'],
  ])('%s', (_says, peer, forwarded, caller) => {
    expect(callerBehind(peer, forwarded, isOurs)).toBe(caller)
  })
})

describe('a network', () => {
  test.each([
    ['192.0.2.1', { four: 0xc0_00_02_01 }],
    ['::ffff:192.0.2.1', { four: 0xc0_00_02_01 }],
    ['2001:db8:1:2:3:4:5:6', { high: 0x20_01_0d_b8, low: 0x00_01_00_02 }],
    ['2001:db8:1:2::', { high: 0x20_01_0d_b8, low: 0x00_01_00_02 }],
    ['fe80::1%eth0', { high: 0xfe_80_00_00, low: 0 }],
    ['::1', { high: 0, low: 0 }],
  ])('of %s', (address, network) => {
    expect(networkOf(address)).toEqual(network)
  })

  test.each(['', 'localhost', '1.2.3', '::g'])('is not %j', text => {
    expect(networkOf(text)).toBeUndefined()
  })
})

describe('counting', () => {
  const request = new Request('http://localhost/')
  const from = (address: string): Origins => ({ requestIP: () => ({ address, port: 1 }) })

  async function countingOf(perSecond: number) {
    const vault = await openTestVault(613, { requestsPerSecondPerAddress: perSecond })
    const enter = makeEnterAddress(vault.deps, makeClientAddress(vault.deps.settings))
    return (origins: Origins | undefined) => {
      try {
        enter(request, origins)
        return true
      } catch {
        return false
      }
    }
  }

  test('counts a /64 of IPv6 as one address, and each of IPv4', async () => {
    const isTaken = await countingOf(1)
    expect(isTaken(from('2001:db8::1'))).toBe(true)
    expect(isTaken(from('2001:db8::ffff:2'))).toBe(false)
    expect(isTaken(from('2001:db8:0:1::1'))).toBe(true)
    expect(isTaken(from('192.0.2.1'))).toBe(true)
    expect(isTaken(from('::ffff:192.0.2.1'))).toBe(false)
    expect(isTaken(from('192.0.2.2'))).toBe(true)
  })

  test('counts nobody whose address is not known', async () => {
    const isTaken = await countingOf(1)
    const unknown: Origins = { requestIP: () => null }
    expect([isTaken(unknown), isTaken(unknown), isTaken(undefined)]).toEqual([true, true, true])
  })
})
