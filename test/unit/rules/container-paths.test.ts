import { describe, expect, test } from 'bun:test'
import {
  containerAncestors,
  containerCovers,
  normaliseContainer,
} from '../../../src/rules/container-paths.ts'
import { containerCharsMax, containerSegmentsMax } from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const normalise = (text: string) => normaliseContainer(text, 'containers[0]')

const refuse = (text: string) =>
  expectRefusal(() => normalise(text), ['containers[0]'], text.length > 5 ? [text] : [])

describe('normaliseContainer', () => {
  // proves C7.10
  test.each([
    ['/', '/'],
    ['/a/', '/a/'],
    ['/pci/high/', '/pci/high/'],
    ['/PCI/High-1_x/', '/pci/high-1_x/'],
    ['/-/_/0/', '/-/_/0/'],
    ['/__proto__/constructor/', '/__proto__/constructor/'],
  ])('takes %s as %s', (text, normal) => {
    expect(normalise(text)).toBe(normal)
    expect(normalise(normal)).toBe(normal)
  })

  test.each([
    '',
    ' ',
    'a',
    '/a',
    'a/',
    '//',
    '//a/',
    '/a//b/',
    '/a/b//',
    '/pci/../gen/',
    '/./',
    '/a.b/',
    '/a b/',
    ' /a/',
    '/a/ ',
    '/a/\n',
    '/a\0/',
    '\\a\\',
    '/a\\b/',
    '/a%2fb/',
    '/a?/',
    '/*/',
    '/Kelvin/',
    '/é/',
    '/ａ/',
    '/ı/',
    '∕a∕',
    '/\ud800/',
    `/${canary}!/`,
    `/${canary}`,
  ])('refuses %j', text => {
    refuse(text)
  })

  test('takes as many segments as the limit and no more', () => {
    expect(normalise(`/${'a/'.repeat(containerSegmentsMax)}`)).toHaveLength(21)
    expect(refuse(`/${'a/'.repeat(containerSegmentsMax + 1)}`).message).toContain('segments')
  })

  test('takes as many characters as the limit and no more', () => {
    const longest = `/${'A'.repeat(containerCharsMax - 2)}/`
    expect(normalise(longest)).toBe(longest.toLowerCase())
    expect(refuse(`/${'A'.repeat(containerCharsMax - 1)}/`).message).toContain('got 401')
  })

  test('refuses a text of hostile length', () => {
    refuse('/a'.repeat(500_000))
  })
})

describe('containerCovers', () => {
  test.each([
    ['/', '/'],
    ['/', '/pci/high/'],
    ['/pci/', '/pci/'],
    ['/pci/', '/pci/high/'],
  ])('%s covers %s', (outer, inner) => {
    expect(containerCovers(outer, inner)).toBe(true)
  })

  test.each([
    ['/pci/', '/pci-dev/'],
    ['/pci/', '/pcii/high/'],
    ['/pci/high/', '/pci/'],
    ['/pci/', '/'],
    ['/pci/high/', '/pci/low/'],
  ])('%s does not cover %s', (outer, inner) => {
    expect(containerCovers(outer, inner)).toBe(false)
  })
})

describe('containerAncestors', () => {
  test.each([
    ['/', ['/']],
    ['/pci/', ['/', '/pci/']],
    ['/pci/high/eu/', ['/', '/pci/', '/pci/high/', '/pci/high/eu/']],
  ])('of %s are %p', (container, ancestors) => {
    expect(containerAncestors(container)).toEqual(ancestors)
  })
})
