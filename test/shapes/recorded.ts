import { readFileSync } from 'node:fs'
import type { Shape } from './compare.ts'

export const RECORDED_FILE = new URL('./shapes.json', import.meta.url)

/** The last recorded shapes. */
export interface Recorded {
  /** The newest upgrade at that time. */
  upgrade: string
  shapes: Record<string, Shape>
  /** Reasons for changing shapes without an upgrade, newest last. */
  reasons: string[]
}

export const readRecorded = (): Recorded => JSON.parse(readFileSync(RECORDED_FILE, 'utf8'))
