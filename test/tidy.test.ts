/**
 * The tidy test: the house rules, held by a machine. Each rule is first tried on small samples.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { bannedRules } from './support/tidy/banned.ts'
import { contentSamples } from './support/tidy/content-samples.ts'
import { layerRules } from './support/tidy/layers.ts'
import { lookSamples } from './support/tidy/look-samples.ts'
import { lookRules } from './support/tidy/looks.ts'
import { nameRules } from './support/tidy/names.ts'
import { packageSamples } from './support/tidy/package-samples.ts'
import { packageRules } from './support/tidy/packages.ts'
import { makeProject, readProject } from './support/tidy/project.ts'
import { listLongFunctions, sizeRules } from './support/tidy/sizes.ts'
import { structureSamples } from './support/tidy/structure-samples.ts'
import { textRules } from './support/tidy/texts.ts'

const rules = [
  ...layerRules,
  ...nameRules,
  ...sizeRules,
  ...bannedRules,
  ...textRules,
  ...packageRules,
  ...lookRules,
]
const samples = [...structureSamples, ...contentSamples, ...packageSamples, ...lookSamples]
const project = readProject(resolve(import.meta.dir, '..'))

describe('the project is tidy', () => {
  // proves S37
  test.each(rules)('$name', ({ check }) => {
    expect(check(project)).toEqual([])
  })

  test('is read whole: the rules see its own files', () => {
    expect([...project.files.keys()]).toContain('bun.lock')
    expect(project.sources.map(({ path }) => path)).toContain('test/tidy.test.ts')
  })
})

describe('each tidy rule is tried on samples', () => {
  test.each(samples)('$rule: $says', ({ rule, files, finds }) => {
    const { check } = rules.find(({ name }) => name === rule) ?? { check: () => ['no such rule'] }
    expect(check(makeProject(new Map(Object.entries(files))))).toEqual(finds)
  })

  test.each(rules)('$name: has a sample that it refuses and one that it lets pass', ({ name }) => {
    const own = samples.filter(({ rule }) => rule === name)
    expect(own.some(({ finds }) => finds.length > 0)).toBe(true)
    expect(own.some(({ finds }) => finds.length === 0)).toBe(true)
  })
})

const long = listLongFunctions(project)
if (long.length > 0) console.info(`longer than wanted: ${long.join(', ')}`)
