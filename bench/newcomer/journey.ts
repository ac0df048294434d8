import type { Language, Packages } from './packages.ts'

/** Seconds from an empty folder to each milestone. */
export interface Journey {
  installed: number
  /** The agent has checked the signature of a run and answered it. */
  verified: number
  inReview: number
}

/** Someone who begins with nothing. */
export interface Newcomer {
  baseUrl: string
  /** Their empty folder. */
  folder: string
  language: Language
  packages: Packages
}
