import { readFileSync } from 'node:fs'
import type { Shape } from './compare.ts'

export const RECORDED_FILE = new URL('./shapes.json', import.meta.url)

/** The shapes that the code was last agreed to have. */
export interface Recorded {
  /** The newest upgrade at that time. */
  upgrade: string
  shapes: Record<string, Shape>
  /** Why shapes could change without an upgrade, newest last. */
  reasons: string[]
}

export const readRecorded = (): Recorded => JSON.parse(readFileSync(RECORDED_FILE, 'utf8'))
