/**
 * `docs/client-reference.md`: it is what the source says, and the source says it of every name.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import ts from 'typescript'
import {
  declarationOf,
  docOf,
  membersOf,
  printReference,
  publicNames,
} from '../../scripts/client-types/reference.ts'
import { readPage } from '../support/page.ts'

test('docs/client-reference.md is made of the source: else run bun scripts/client-docs.ts', () => {
  expect(readPage('docs/client-reference.md')).toBe(printReference())
})

const tagsOf = (node: ts.Node): readonly string[] => docOf(node).tags.map(([name]) => name)

describe('every public name is told', () => {
  const methods = publicNames.flatMap(name =>
    membersOf(declarationOf(name))
      .filter(ts.isMethodSignature)
      .map(member => [`${name}.${member.name.getText()}`, member] as const),
  )

  test('by a text', () => {
    expect(publicNames).toContain('createClient')
    const silent = publicNames.filter(name => docOf(declarationOf(name)).text === '')
    expect(silent).toEqual([])
  })

  test('each operation with its errors and an example, once where it has several forms', () => {
    expect(methods.length).toBeGreaterThan(25)
    const first = [...new Map(methods.toReversed())]
    const poor = first.filter(([, member]) => {
      const tags = tagsOf(member)
      return docOf(member).text === '' || !tags.includes('throws') || !tags.includes('example')
    })
    expect(poor.map(([name]) => name)).toEqual([])
  })

  test('each function with its errors and an example', () => {
    for (const name of ['createClient', 'ref', 'overSocket']) {
      expect([name, tagsOf(declarationOf(name))]).toEqual([
        name,
        expect.arrayContaining(['throws', 'example']),
      ])
    }
  })
})
