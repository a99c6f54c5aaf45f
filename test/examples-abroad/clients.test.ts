/**
 * Published clients of this interface family in Python, unchanged, against the binary. Their
 * programs stand in `clients/`; here each statement has its name.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  binary,
  binaryMissing,
  hasPytest,
  pytestMissing,
  pytestName,
  runPytest,
  type Results,
} from '../support/pytest.ts'

const isReady = hasPytest && binary !== undefined
if (!hasPytest) console.warn(`clients in Python are not tested: ${pytestMissing}`)
if (binary === undefined) console.warn(`clients in Python are not tested: ${binaryMissing}`)

const pytestMsMax = 600_000

/** Each statement is a test of the file: `test_a_b` for `a b`. */
function prove(file: string, statements: readonly (readonly [string])[]): void {
  let results: Results
  beforeAll(async () => {
    results = await runPytest(`test/examples-abroad/clients/${file}`)
  }, pytestMsMax)

  test.each(statements.map(([statement]) => statement))('%s', statement => {
    const outcome = results.outcomes.get(pytestName(statement))
    expect([outcome, outcome === 'passed' ? '' : results.output]).toEqual(['passed', ''])
  })

  test('every test of the file is a statement here', () => {
    const names = statements.map(([statement]) => pytestName(statement))
    expect([...results.outcomes.keys()].toSorted()).toEqual(names.toSorted())
  })
}

describe.skipIf(!isReady)('BasisTheoryClient 7.4.0 for Python', () => {
  prove('test_current.py', [
    // proves P18
    ['tokens are created, read, changed and deleted'],
    // proves P19
    ['refusals are errors of their kinds'],
    // proves P20
    ['tokens are listed and searched page by page'],
    // proves P21
    ['tokens are made and resolved in bulk'],
    // proves P22
    ['a create under an idempotency key is done once'],
    // proves P23
    ['applications and their keys are managed'],
    // proves P24
    ['permissions and the tenant are read and changed'],
    // proves P25
    ['a session reads what its authorizer allowed'],
    // proves P38
    ['what the vault has not is told'],
  ])
})

describe.skipIf(!isReady)('basistheory 3.0.0 for Python', () => {
  prove('test_older.py', [
    // proves P26
    ['tokens are created, read, changed and deleted'],
    // proves P27
    ['refusals are errors of their kinds'],
    // proves P28
    ['tokens are listed and searched page by page'],
    // proves P41
    ['tokens are made in bulk, and resolving gives nothing'],
    // proves P42
    ['an idempotency key stays for the calls that follow'],
    // proves P29
    ['applications and their keys are managed'],
    // proves P30
    ['permissions and the tenant are read and changed'],
    // proves P31
    ['a session reads what its authorizer allowed'],
    // proves P38
    ['what the vault has not is told'],
  ])
})
