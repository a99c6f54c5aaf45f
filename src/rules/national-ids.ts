/**
 * Social security and employer identification numbers: nine digits, kept as they were written.
 *
 * Dashes stand where they belong, all or none. Source: contract section 5.
 * @module
 */
import { invalid } from '../errors.ts'
import type { Json } from '../json/json.ts'

const socialSecurityNumber = /^(?:[0-9]{9}|[0-9]{3}-[0-9]{2}-[0-9]{4})$/
const employerIdNumber = /^(?:[0-9]{9}|[0-9]{2}-[0-9]{7})$/

/** @throws ApiError `invalid_request` unless it is nine digits, with dashes as 3-2-4 or none */
export const normaliseSocialSecurityNumber = (data: Json, at: string): Json => {
  if (typeof data === 'string' && socialSecurityNumber.test(data)) return data
  throw invalid(at, 'expected a string of nine digits, with dashes as 3-2-4 or without')
}

/** @throws ApiError `invalid_request` unless it is nine digits, with a dash as 2-7 or none */
export const normaliseEmployerIdNumber = (data: Json, at: string): Json => {
  if (typeof data === 'string' && employerIdNumber.test(data)) return data
  throw invalid(at, 'expected a string of nine digits, with a dash as 2-7 or without')
}
