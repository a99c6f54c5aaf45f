/**
 * The sample that a person begins with, for each type of token.
 * @module
 */
import type { TokenType } from '../../client/interface.ts'
import type { Sample } from './sample.ts'

const data: Readonly<Record<TokenType, string>> = {
  token: '{"name": "Ada Lovelace", "email": "ada@example.com"}',
  card: '{"number": "4242424242424242", "expiration_month": 10, "expiration_year": 2030}',
  bank: '{"routing_number": "021000021", "account_number": "000123456789"}',
  card_number: '4242424242424242',
  us_bank_account_number: '000123456789',
  us_bank_routing_number: '021000021',
  social_security_number: '123-45-6789',
  employer_id_number: '12-3456789',
  email: 'ada@example.com',
  phone: '+4930123456',
  iban: 'DE89370400440532013000',
  name: '{"first": "Ada", "last": "Lovelace"}',
  address: '{"street": "12 St James Square", "city": "London", "country": "GB"}',
  date_of_birth: '1815-12-10',
}

/** Only a plain token has no expressions of its own. */
const expressions = {
  mask: '{{ data.email | reveal_last: 4 }}',
  search_indexes: '{{ data.email | downcase }}',
  fingerprint_expression: '{{ data.email | downcase }}',
}

const none = { mask: '', search_indexes: '', fingerprint_expression: '' }

export const firstSample = (type: TokenType): Sample => ({
  type,
  data: data[type],
  id: '',
  metadata: '',
  ...(type === 'token' ? expressions : none),
})
