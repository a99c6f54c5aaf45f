/**
 * Small projects that each break one tidy rule, and neighbours that do not.
 * @module
 */

export interface Sample {
  /** Name of the rule under test. */
  readonly rule: string
  readonly says: string
  readonly files: Readonly<Record<string, string>>
  /** Every finding of the rule, in order. */
  readonly finds: readonly string[]
}

const layers: readonly Sample[] = [
  {
    rule: 'imports go down the layers',
    says: 'lets each layer import what is below it',
    files: {
      'src/main.ts': `import './cli/serve.ts'\nimport './lib/version.ts'`,
      'src/lib/version.ts': `import '../../package.json'`,
      'src/cli/serve.ts': `import '../server/listen/app.ts'\nimport '../store/lmdb/lmdb-store.ts'`,
      'src/server/listen/app.ts': `import '../coffer.ts'\nimport '../http/auth.ts'`,
      'src/coffer.ts': `import './tokens/routes.ts'\nimport './http/auth.ts'`,
      'src/http/auth.ts': `import '../rules/access.ts'\nimport '../deps.ts'`,
      'src/tokens/routes.ts': `import './service.ts'\nimport type {} from '../http/route.ts'`,
      'src/tokens/find/filters.ts': `import '../../http/query.ts'`,
      'src/tokens/service.ts': `import '../lib/json/json.ts'\nimport type {} from '../deps.ts'`,
      'src/rules/mask.ts': `import '../language/expression.ts'\nimport '../lib/json/json.ts'`,
      'src/records/row.ts': `import '../crypto/seal.ts'\nimport '../store/contract.ts'`,
      'src/store/lmdb/lmdb-store.ts': `import '../contract.ts'\nimport '../../limits/limits.ts'`,
    },
    finds: [],
  },
  {
    rule: 'imports go down the layers',
    says: 'refuses upward and sideways imports, also of types and by import()',
    files: {
      'src/tokens/service.ts': `import { a } from '../applications/application-service.ts'`,
      'src/tokens/read/load.ts': `import type { A } from '../../http/route.ts'`,
      'src/tokens/find/list.ts': `export * from '../../store/lmdb/lmdb-store.ts'`,
      'src/lib/json/json.ts': `import { a } from '../../crypto/seal.ts'`,
      'src/crypto/seal.ts': `const a = await import('../store/contract.ts')`,
      'src/store/contract.ts': `import { a } from '../deps.ts'`,
      'src/records/row.ts': `import { a } from '../store/query.ts'`,
      'src/http/auth.ts': `import { a } from '../tokens/routes.ts'`,
      'src/limits/limits.ts': `import '../lib/errors.ts'\nimport { b } from '../main.ts'`,
    },
    finds: [
      'src/tokens/service.ts: features may not import src/applications/application-service.ts',
      'src/tokens/read/load.ts: features may not import src/http/route.ts',
      'src/tokens/find/list.ts: features may not import src/store/lmdb/lmdb-store.ts',
      'src/lib/json/json.ts: domain may not import src/crypto/seal.ts',
      'src/crypto/seal.ts: crypto may not import src/store/contract.ts',
      'src/store/contract.ts: store may not import src/deps.ts',
      'src/records/row.ts: records may not import src/store/query.ts',
      'src/http/auth.ts: http may not import src/tokens/routes.ts',
      'src/limits/limits.ts: leaves may not import src/main.ts',
    ],
  },
  {
    rule: 'imports go down the layers',
    says: 'refuses a file that belongs to no layer',
    files: { 'src/helpers.ts': '', 'src/tokens/service.ts': `import '../helpers.ts'` },
    finds: [
      'src/helpers.ts: belongs to no layer',
      'src/tokens/service.ts: features may not import src/helpers.ts',
    ],
  },
  {
    rule: 'packages are imported in their home only',
    says: 'lets a package into its home, and built-ins anywhere but the domain',
    files: {
      'src/store/lmdb/lmdb-store.ts': `import { open } from 'lmdb'\nimport 'node:fs'`,
      'src/crypto/seal.ts': `import 'sodium-native'\nimport '@noble/hashes/sha2.js'`,
      'src/http/pipeline.ts': `import 'elysia'`,
      'src/http/documentation/routes.ts': `import 'elysia'\nimport 'swagger-ui-dist/x.css'`,
      'src/tokens/schema.ts': `import '@sinclair/typebox/compiler'`,
      'src/cli/serve.ts': `import 'commander'\nimport 'bun'`,
    },
    finds: [],
  },
  {
    rule: 'packages are imported in their home only',
    says: 'refuses a package abroad, an unknown one, and any in the domain',
    files: {
      'src/store/contract.ts': `import { open } from 'lmdb'`,
      'src/tokens/write/create.ts': `import { t } from 'elysia'`,
      'src/tokens/schema.ts': `import { Command } from 'commander'\nimport left from 'left-pad'`,
      'src/lib/json/json.ts': `import { inspect } from 'node:util'`,
      'src/records/row.ts': `import { hkdf } from '@noble/hashes/hkdf.js'`,
    },
    finds: [
      'src/store/contract.ts: may not import the package lmdb',
      'src/tokens/write/create.ts: may not import the package elysia',
      'src/tokens/schema.ts: may not import the package commander',
      'src/tokens/schema.ts: may not import the package left-pad',
      'src/lib/json/json.ts: may not import the package node:util',
      'src/records/row.ts: may not import the package @noble/hashes/hkdf.js',
    ],
  },
  {
    rule: 'no ring of imports',
    says: 'lets two files share a third',
    files: {
      'src/a.ts': `import './b.ts'\nimport './c.ts'`,
      'src/b.ts': `import './c.ts'`,
      'src/c.ts': '',
    },
    finds: [],
  },
  {
    rule: 'no ring of imports',
    says: 'refuses a ring of three and a file that imports itself',
    files: {
      'src/a.ts': `import './b.ts'`,
      'src/b.ts': `import './c.ts'`,
      'src/c.ts': `import type {} from './a.ts'`,
      'src/d.ts': `import './d.ts'`,
    },
    finds: ['src/a.ts → src/b.ts → src/c.ts → src/a.ts', 'src/d.ts → src/d.ts'],
  },
  {
    rule: 'no dead source file',
    says: 'lets a file live that main reaches through another',
    files: {
      'src/main.ts': `import './a.ts'`,
      'src/a.ts': `import './b.ts'`,
      'src/b.ts': '',
      'src/assets.d.ts': '',
    },
    finds: [],
  },
  {
    rule: 'no dead source file',
    says: 'refuses a file that only a test imports once there is a main',
    files: {
      'src/main.ts': '',
      'src/a.ts': `import './b.ts'`,
      'src/b.ts': '',
      'test/a.test.ts': `import '../src/a.ts'`,
    },
    finds: ['src/a.ts: nothing that runs imports it', 'src/b.ts: nothing that runs imports it'],
  },
]

const lines = (count: number, line = 'step()'): string => `${line}\n`.repeat(count)

const sizes: readonly Sample[] = [
  {
    rule: 'functions are short',
    says: 'lets a function of 70 lines and a suite of any length pass',
    files: {
      'src/a.ts': `function a() {\n${lines(68)}}`,
      'test/a.test.ts': `describe('a', () => {\n${lines(90)}})`,
      'test/b.test.ts': `describe.each(rows)('b', () => {\n${lines(90)}})`,
    },
    finds: [],
  },
  {
    rule: 'functions are short',
    says: 'refuses 71 lines in a function, an arrow, a method and a test',
    files: {
      'src/a.ts': `\nfunction a() {\n${lines(69)}}`,
      'src/b.ts': `const b = () => {\n${lines(69)}}`,
      'src/c.ts': `class C {\n  c() {\n${lines(69)}}\n}`,
      'test/a.test.ts': `test('a', () => {\n${lines(69)}})`,
    },
    finds: [
      'src/a.ts:2: function of 71 lines, at most 70',
      'src/b.ts:1: function of 71 lines, at most 70',
      'src/c.ts:2: function of 71 lines, at most 70',
      'test/a.test.ts:1: function of 71 lines, at most 70',
    ],
  },
  {
    rule: 'files are short',
    says: 'lets 400 lines pass, and any length of other texts',
    files: { 'src/a.ts': lines(400), 'README.md': lines(900), 'bun.lock': lines(900) },
    finds: [],
  },
  {
    rule: 'files are short',
    says: 'refuses 401 lines in a source, a test and a script',
    files: { 'src/a.ts': lines(401), 'test/a.test.ts': lines(500), 'scripts/setup': lines(402) },
    finds: [
      'src/a.ts: 401 lines, at most 400',
      'test/a.test.ts: 500 lines, at most 400',
      'scripts/setup: 402 lines, at most 400',
    ],
  },
  {
    rule: 'lines are short',
    says: 'lets 100 columns pass, counted in characters',
    files: { 'src/a.ts': `// ${'→'.repeat(97)}`, 'README.md': 'x'.repeat(200) },
    finds: [],
  },
  {
    rule: 'lines are short',
    says: 'refuses 101 columns',
    files: { 'src/a.ts': `\n// ${'x'.repeat(98)}`, '.ci/run': 'x'.repeat(120) },
    finds: ['src/a.ts:2: 101 columns, at most 100', '.ci/run:1: 120 columns, at most 100'],
  },
]

const names: readonly Sample[] = [
  {
    rule: 'a file has a name of its own',
    says: 'lets names of folders, of programs that are shipped apart, and of tests pass',
    files: {
      'src/tokens/routes.ts': '',
      'src/sessions/routes.ts': '',
      'src/client/tokens.ts': '',
      'src/cli/tokens.ts': '',
      'test/cli/tokens.ts': '',
    },
    finds: [],
  },
  {
    rule: 'a file has a name of its own',
    says: 'refuses one that the server has in two folders',
    files: { 'src/rules/grants.ts': '', 'src/sessions/grants.ts': '' },
    finds: ['src/sessions/grants.ts: src/rules/grants.ts is called so as well'],
  },
  {
    rule: 'an exported type has a name of its own',
    says: 'refuses one that is declared in two files, whatever it is',
    files: {
      'src/a.ts': `export interface Row {}`,
      'src/store/b.ts': `\nexport type Row = string`,
      'src/cli/c.ts': `export class Row {}`,
    },
    finds: [
      'src/store/b.ts:2: Row is a type of src/a.ts as well',
      'src/cli/c.ts:1: Row is a type of src/a.ts as well',
    ],
  },
  {
    rule: 'an exported type has a name of its own',
    says: 'lets types of one file, of a test and of what is printed for the client have any',
    files: {
      'src/a.ts': `export interface Row {}\nexport const row = 1`,
      'src/b.ts': `interface Row {}`,
      'src/client/interface.ts': `export type Row = string`,
      'test/d.ts': `export type Row = string`,
    },
    finds: [],
  },
]

export const structureSamples: readonly Sample[] = [...layers, ...names, ...sizes]
