/**
 * The fuzzer itself: it finds what chance alone does not, shrinks it, and repeats itself.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeCounts, type Coverage } from '../../../scripts/fuzz/coverage.ts'
import { fuzz, type Target } from '../../../scripts/fuzz/engine.ts'
import { canary, resultOf } from '../../../scripts/fuzz/invariants.ts'
import { openRandom } from '../../../scripts/seed/random.ts'
import { ApiError, invalid } from '../../../src/lib/errors.ts'

const secret = 'Q7#k'

/** Each right character is one more branch; the whole word is a fault. */
function openMaze() {
  const counts = makeCounts(secret.length + 1)
  const target: Target = {
    seeds: ['aaaa', 'hello'],
    dictionary: ['x'],
    charsMax: 12,
    run(input) {
      for (let at = 0; at < secret.length; at += 1) {
        if (input[at] !== secret[at]) return
        counts.see(at)
      }
      throw new RangeError('inside')
    },
  }
  const coverage: Coverage = {
    settle: counts.settle,
    reached: () => ({ outcomes: counts.countSeen(), of: secret.length }),
  }
  return { target, coverage }
}

const budget = { seconds: 3_600, executions: 200_000 }

test('a fault behind four right characters is found, and shrunk to them', async () => {
  const { target, coverage } = openMaze()
  const { faults, executions } = await fuzz(target, coverage, openRandom(1), budget)
  expect(faults).toHaveLength(1)
  expect(faults[0]?.input).toBe(secret)
  expect(faults[0]?.reason).toContain('RangeError: inside')
  expect(coverage.reached()).toEqual({ outcomes: 4, of: 4 })
  expect(executions).toBe(budget.executions)
})

test('without coverage the same is not found: it is what guides', async () => {
  const { target } = openMaze()
  const blind: Coverage = { settle: () => false, reached: () => ({ outcomes: 0, of: 4 }) }
  const { faults } = await fuzz(target, blind, openRandom(1), budget)
  expect(faults).toEqual([])
})

test('one seed gives one run', async () => {
  const inputsOf = async (seed: number) => {
    const inputs: string[] = []
    const { target, coverage } = openMaze()
    const run = (input: string) => {
      // The slowest one so far is run again, to see whether it was the machine.
      if (inputs.at(-1) !== input) inputs.push(input)
    }
    const few = { seconds: 3_600, executions: 200 }
    await fuzz({ ...target, run }, coverage, openRandom(seed), few)
    return inputs
  }
  expect(await inputsOf(5)).toEqual(await inputsOf(5))
  expect(await inputsOf(5)).not.toEqual(await inputsOf(6))
})

test('a run is the same on a machine that becomes ever slower', async () => {
  const inputsOf = async (slowerMs: number) => {
    const inputs: string[] = []
    const { target, coverage } = openMaze()
    const run = (input: string) => {
      if (inputs.at(-1) !== input) inputs.push(input)
      const endMs = performance.now() + (inputs.length === 1 ? 2 : slowerMs * inputs.length)
      while (performance.now() < endMs);
      target.run(input)
    }
    const few = { seconds: 3_600, executions: 60 }
    await fuzz({ ...target, seeds: ['aaaa', 'Q7aa', 'Qaaa'], run }, coverage, openRandom(5), few)
    return inputs
  }
  expect(await inputsOf(0.3)).toEqual(await inputsOf(0))
})

describe('a result of the code under test', () => {
  test('is what it gives, or nothing where it refuses as it may', () => {
    expect(resultOf(() => 7)).toBe(7)
    const refuse = () => {
      throw invalid('at', 'expected another')
    }
    expect(resultOf(refuse)).toBeUndefined()
  })

  test.each([
    ['an error of another class', () => new TypeError('x'), 'x'],
    ['an error of another kind', () => new ApiError('internal', 'x'), 'invalid request'],
    ['a message that repeats the input', () => invalid('at', `got ${canary}`), 'repeats nothing'],
    ['a path that repeats the input', () => invalid(canary, 'x'), 'repeats nothing'],
  ])('that is %s is a fault', (_, make, said) => {
    const run = () => {
      throw make()
    }
    expect(() => resultOf(run)).toThrow(said)
  })

  test('that adds to a prototype is a fault', () => {
    const pollute = () => Object.assign(Object.prototype, { polluted: 1 })
    try {
      expect(() => resultOf(pollute)).toThrow('prototype')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted')
    }
  })
})

test('counts are told apart by about how many they are, once each', () => {
  const counts = makeCounts(2)
  const settleAfter = (times: number) => {
    for (let time = 0; time < times; time += 1) counts.see(1)
    return counts.settle()
  }
  expect([1, 1, 2, 3, 3, 4, 7, 8, 1, 200, 130].map(settleAfter)).toEqual([
    true,
    false,
    true,
    true,
    false,
    true,
    false,
    true,
    false,
    true,
    false,
  ])
  expect(counts.countSeen()).toBe(1)
})
