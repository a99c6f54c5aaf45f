/**
 * Findings of `coffer doctor`.
 * @module
 */

export interface DoctorFinding {
  readonly level: 'fault' | 'warning' | 'note'
  /** The flag, the thing or the path that it is about. */
  readonly about: string
  readonly text: string
}

export const fault = (about: string, text: string): DoctorFinding => ({
  level: 'fault',
  about,
  text,
})
export const warning = (about: string, text: string): DoctorFinding => ({
  level: 'warning',
  about,
  text,
})
export const note = (about: string, text: string): DoctorFinding => ({ level: 'note', about, text })
