/**
 * The examples in Python and Go: tests of a shop, which start a throw-away vault by
 * `coffer dev --json`, read its one line and show that it ends with them.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import {
  binary,
  binaryMissing,
  environmentAbroad,
  hasPytest,
  pytestMissing,
  runPytest,
  type Results,
} from '../support/pytest.ts'

const examples = resolve(import.meta.dir, '../../examples')
const hasGo = Bun.which('go') !== null
if (!hasGo) console.warn('the example in Go is not tested: see scripts/install-client-tools')
if (!hasPytest) console.warn(`the example in Python is not tested: ${pytestMissing}`)
if (binary === undefined) console.warn(`examples abroad are not tested: ${binaryMissing}`)

/** Longest time for Go's first build, which compiles its whole HTTP client. */
const goMsMax = 600_000

describe.skipIf(!hasPytest || binary === undefined)('the example in Python', () => {
  const names = [
    'test_a_page_stores_a_card_and_the_backend_reads_it',
    'test_the_support_desk_sees_the_last_four_digits',
    'test_the_vault_ends_when_its_parent_is_killed',
  ]
  let results: Results
  beforeAll(async () => {
    results = await runPytest('examples/python/test_cards.py')
  })

  test.each(names)('%s', name => {
    const outcome = results.outcomes.get(name)
    expect([outcome, outcome === 'passed' ? '' : results.output]).toEqual(['passed', ''])
  })

  test('has these tests and no others', () => {
    expect([...results.outcomes.keys()].toSorted()).toEqual(names)
  })
})

describe.skipIf(!hasGo || binary === undefined)('the example in Go', () => {
  const names = [
    'TestAPageStoresACardAndTheBackendReadsIt',
    'TestTheSupportDeskSeesTheLastFourDigits',
    'TestTheVaultEndsWhenItsParentIsKilled',
  ]
  const folder = join(examples, 'go')
  let output: string
  beforeAll(async () => {
    const child = Bun.spawn(['go', 'test', '-count=1', '-v', './...'], {
      cwd: folder,
      env: {
        ...environmentAbroad(),
        GOTOOLCHAIN: 'local',
        GOWORK: 'off',
        GOFLAGS: '-mod=readonly',
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    output = stdout + stderr
  }, goMsMax)

  const lines = () =>
    [...output.matchAll(/^--- ([A-Z]+): (\w+)/gm)].map(([, is, name]) => [is, name])

  test.each(names)('%s', name => {
    const [outcome] = lines().find(([, each]) => each === name) ?? []
    expect([outcome, outcome === 'PASS' ? '' : output]).toEqual(['PASS', ''])
  })

  test('has these tests and no others', () => {
    expect(lines().map(([, name]) => name)).toEqual(names)
  })

  test('is formatted as Go has it', () => {
    expect(Bun.spawnSync(['gofmt', '-l', folder]).stdout.toString()).toBe('')
  })
})
