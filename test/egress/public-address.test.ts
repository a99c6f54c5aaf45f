/**
 * Public addresses and others, at the edges of each network.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { isPublicAddress, makeMayReach } from '../../src/egress/public-address.ts'

describe('an address is public', () => {
  test.each([
    ['1.0.0.0'],
    ['8.8.8.8'],
    ['9.255.255.255'],
    ['11.0.0.0'],
    ['100.63.255.255'],
    ['100.128.0.0'],
    ['126.255.255.255'],
    ['128.0.0.0'],
    ['169.253.255.255'],
    ['169.255.0.0'],
    ['172.15.255.255'],
    ['172.32.0.0'],
    ['192.0.1.0'],
    ['192.167.255.255'],
    ['192.169.0.0'],
    ['198.17.255.255'],
    ['198.20.0.0'],
    ['223.255.255.255'],
    ['2606:4700:4700::1111'],
    ['2001:200::'],
    ['2001:4860:4860::8888'],
    ['2003::1'],
    ['3ffe:ffff::1'],
    ['3fff:1000::'],
    // Another form of a public IPv4 address.
    ['::ffff:8.8.8.8'],
    ['::FFFF:808:808'],
    ['64:ff9b::8.8.8.8'],
    ['64:ff9b::808:808'],
  ])('%s', address => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

const refused = [
  ['0.0.0.0'],
  ['0.255.255.255'],
  ['10.0.0.0'],
  ['10.255.255.255'],
  ['100.64.0.0'],
  ['100.100.100.200'],
  ['100.127.255.255'],
  ['127.0.0.1'],
  ['127.255.255.255'],
  ['168.63.129.16'],
  ['169.254.0.0'],
  ['169.254.169.254'],
  ['172.16.0.0'],
  ['172.31.255.255'],
  ['192.0.0.0'],
  ['192.0.0.192'],
  ['192.0.2.1'],
  ['192.88.99.1'],
  ['192.168.0.0'],
  ['192.168.255.255'],
  ['198.18.0.0'],
  ['198.19.255.255'],
  ['198.51.100.1'],
  ['203.0.113.255'],
  ['224.0.0.1'],
  ['239.255.255.255'],
  ['240.0.0.1'],
  ['255.255.255.255'],
  ['::'],
  ['::1'],
  ['0:0:0:0:0:0:0:1'],
  // Compatible with IPv4, mapped, translated, and mapped twice.
  ['::8.8.8.8'],
  ['::127.0.0.1'],
  ['::ffff:127.0.0.1'],
  ['::ffff:7f00:1'],
  ['0:0:0:0:0:ffff:a00:1'],
  ['::ffff:0:127.0.0.1'],
  ['64:ff9b::127.0.0.1'],
  ['64:ff9b::a9fe:a9fe'],
  ['64:ff9b::1:8.8.8.8'],
  ['64:ff9b:1::8.8.8.8'],
  ['64:ff9b:1:ffff::'],
  ['100::1'],
  ['fc00::1'],
  ['fd00:ec2::254'],
  ['fdff:ffff::1'],
  ['fe80::1'],
  ['fe80::1%lo'],
  ['2606:4700:4700::1111%eth0'],
  ['febf::1'],
  ['fec0::1'],
  ['ff02::1'],
  ['2001::1'],
  ['2001:0:7f00:1::'],
  ['2001:2::1'],
  ['2001:1ff:ffff::1'],
  ['2001:db8::1'],
  ['2002:7f00:1::'],
  ['2002:808:808::1'],
  ['3fff::1'],
  ['3fff:fff::1'],
  ['4000::1'],
  ['5f00::1'],
  ['1fff::1'],
  // No address at all.
  [''],
  ['8.8.8'],
  ['8.8.8.8.'],
  ['08.8.8.8'],
  ['2130706433'],
  ['[::1]'],
  ['localhost'],
] as const

describe('an address is not public', () => {
  test.each(refused)('%s', address => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe("the operator's list", () => {
  const mayReach = makeMayReach(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1', 'fe80::/10'])

  test.each([
    ['an address in a network', '10.1.255.255', true],
    ['an address of its own', '127.0.0.1', true],
    ['an address in IPv6 form', '::ffff:10.1.0.1', true],
    ['an address of IPv6', 'fd00:1::7', true],
    ['a public address', '8.8.8.8', true],
    ['a neighbour', '10.2.0.0', false],
    ['another address of loopback', '127.0.0.2', false],
    ['a neighbour of IPv6', 'fd00:2::7', false],
    ['a translated address that it does not name', '64:ff9b::10.1.0.1', false],
    ['an address of a link', 'fe80::1%lo', false],
    ['no address', 'localhost', false],
  ])('%s', (_says, address, may) => {
    expect(mayReach(address)).toBe(may)
  })

  test('is empty: nothing is widened', () => {
    const none = makeMayReach([])
    expect(refused.filter(([address]) => none(address))).toEqual([])
  })
})
