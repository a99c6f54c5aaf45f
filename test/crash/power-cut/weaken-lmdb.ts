/**
 * Preloaded by the negative controls alone: opens LMDB with options that the store would never use,
 * as JSON in `WEAKENED_LMDB`. This shows that the harness finds real faults, while the store itself
 * has no such option.
 * @module
 */
import * as lmdb from 'lmdb'

export type WeakOptions = Readonly<Record<string, boolean>>

const weak = JSON.parse(process.env['WEAKENED_LMDB'] ?? '{}') as WeakOptions

const open = (options: lmdb.RootDatabaseOptionsWithPath): lmdb.RootDatabase =>
  lmdb.open({ ...options, ...weak })

Bun.plugin({
  name: 'weakened lmdb',
  setup: build => {
    build.module('lmdb', () => ({ exports: { ...lmdb, open }, loader: 'object' }))
  },
})
