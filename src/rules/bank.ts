/**
 * Bank data: the `bank` object and the bare numbers of US banks.
 *
 * Leading zeros are kept, so numbers are strings. Members that are not of a bank are kept.
 * Source: contract section 5; spec, Token data validations.
 * @module
 */
import { invalid } from '../errors.ts'
import { bankAccountDigitsMax, usBankAccountDigitsMin } from '../limits.ts'
import { isAbaValid, isDigits } from '../text/digits.ts'
import { addFault, type Faults, throwFaults } from './faults.ts'
import { isJsonObject, type Json } from '../json/json.ts'

const routingExpected = 'expected a string of nine digits that passes the ABA check'
const accountExpected = `expected a string of 1 to ${bankAccountDigitsMax} digits`
const usAccountExpected =
  `expected a string of ${usBankAccountDigitsMin} ` + `to ${bankAccountDigitsMax} digits`

const isRoutingNumber = (value: Json | undefined): boolean =>
  typeof value === 'string' && isAbaValid(value)

const isAccountNumber = (value: Json | undefined, digitsMin: number): boolean =>
  typeof value === 'string' && isDigits(value, digitsMin, bankAccountDigitsMax)

/**
 * @param at  path of the value, `data`
 * @throws ApiError `invalid_request` with all faults
 */
export const normaliseBank = (data: Json, at: string): Json => {
  if (!isJsonObject(data)) throw invalid(at, 'expected a bank object')
  const faults: Faults = new Map()
  if (!isRoutingNumber(data.get('routing_number'))) {
    addFault(faults, `${at}.routing_number`, routingExpected)
  }
  if (!isAccountNumber(data.get('account_number'), 1)) {
    addFault(faults, `${at}.account_number`, accountExpected)
  }
  throwFaults(faults)
  return data
}

/** @throws ApiError `invalid_request` unless it is a string of 3 to 17 digits */
export const normaliseUsBankAccountNumber = (data: Json, at: string): Json => {
  if (!isAccountNumber(data, usBankAccountDigitsMin)) throw invalid(at, usAccountExpected)
  return data
}

/** @throws ApiError `invalid_request` unless it is a string of nine digits that passes ABA */
export const normaliseUsBankRoutingNumber = (data: Json, at: string): Json => {
  if (!isRoutingNumber(data)) throw invalid(at, routingExpected)
  return data
}
