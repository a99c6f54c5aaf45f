/**
 * Answers about the state of the vault, for the documentation.
 * @module
 */
import type { HistoryAnswer, StatusAnswer, StatusSetting } from './schema.ts'

const levels = {
  in_flight: 2,
  sweep_lag_seconds: 0,
  unfolded_rows: 812,
  unsigned_entries: 3,
  log_bytes: 73_400_320,
  file_bytes: 536_870_912,
  disk_free_bytes: 41_875_931_136,
}

const status: StatusAnswer = {
  version: '0.1.0',
  build: '3f9c0a41d2be',
  store: 'folder',
  workers: 2,
  started_at: '2026-03-01T08:00:00.000+00:00',
  serving_seconds: 86_400,
  is_ready: true,
  failing: [],
  answers: { answered: 1_204_311, refused: 812, failed: 0, p50_ms: 0.4, p99_ms: 3.1 },
  refusals: [{ kind: 'not_found', count: 780 }],
  levels,
  log_budget_bytes: 1_099_511_627_776,
  disk_bytes: 107_374_182_400,
  rows_given: 4_812_007,
  keys: {
    source: 'file',
    master_key_age_seconds: 31_536_000,
    data_keys: 1,
    data_key_age_seconds: 7_776_000,
  },
  backups: { to: 'bucket', every_seconds: 86_400, age_seconds: 3_600, made: 1, failed: 0 },
  findings: [
    {
      level: 'warning',
      about: '--requests-per-second-max',
      text: 'no credential is limited in its requests',
    },
  ],
}

const history: HistoryAnswer = {
  samples: [
    {
      at: '2026-03-01T09:00:10.000+00:00',
      seconds: 10,
      answers: { answered: 4_120, refused: 3, failed: 0, p50_ms: 0.4, p99_ms: 2.9 },
      levels,
    },
  ],
}

const settings: readonly StatusSetting[] = [
  { name: 'port', value: 3333, from: 'flag', by: '--port' },
  { name: 'master_key_file', is_hidden: true, from: 'file', by: 'line 3' },
  { name: 'mask_guard', value: true, from: 'default' },
]

export const statusExamples = { status }
export const historyExamples = { history }
export const settingsExamples = { some: { settings } }
