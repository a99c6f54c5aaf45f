import { describe, expect, test } from 'bun:test'
import { addFault, type Faults, throwFaults } from '../../../src/lib/errors.ts'
import { expectRefusal } from '../../support/refusal.ts'

describe('faults', () => {
  test('throw nothing where there is none', () => {
    expect(() => throwFaults(new Map())).not.toThrow()
  })

  test('are thrown together, those of one path in one list', () => {
    const faults: Faults = new Map()
    addFault(faults, 'data.number', 'expected digits')
    addFault(faults, 'data.cvc', 'expected a string')
    addFault(faults, 'data.number', 'expected less')
    const error = expectRefusal(() => throwFaults(faults), ['data.number', 'data.cvc'])
    expect(error.fields?.['data.number']).toEqual(['expected digits', 'expected less'])
    expect(error.message).toContain('data.cvc: expected a string')
  })
})
