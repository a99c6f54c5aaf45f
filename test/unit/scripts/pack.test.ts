/**
 * Lines that `npm run pack` prints of the packages that it made.
 * @module
 */
import { expect, test } from 'bun:test'
import { version } from '../../../package.json' with { type: 'json' }
import { manifestOf, packages, tellPackage } from '../../../scripts/pack/packages.ts'

test('a package is told with what it is, its sizes, and how it is installed', () => {
  const told = tellPackage(
    { name: '@coffer/client', description: 'The client.' },
    { packed: 11_100, unpacked: 54_900 },
  )
  expect(told).toBe(`
@coffer/client: The client.
  12 KB, unpacked 55 KB
  npm install ./dist/coffer-client-${version}.tgz`)
})

test('the client and the card fields depend on nothing', () => {
  const needs = packages.map(each => {
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(each) as {
      readonly dependencies?: object
      readonly optionalDependencies?: object
    }
    return [each.name, Object.keys({ ...dependencies, ...optionalDependencies }).length > 0]
  })
  expect(needs).toEqual([
    ['@coffer/client', false],
    ['@coffer/elements', false],
    ['coffer', true],
  ])
})
