import { existsSync } from 'node:fs'
import path from 'node:path'
import { launchChromium, unpackChromium } from '#testkit/chromium.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { startLocalRun } from './local-run.ts'
import { byCommandLine } from './newcomer/command-line.ts'
import type { Journey, Newcomer } from './newcomer/journey.ts'
import { type Language, preparePackages } from './newcomer/packages.ts'
import { byPortal } from './newcomer/portal.ts'
import { fixed, type Table } from './report/table.ts'
import { median, spread } from './statistics.ts'

export interface Measured {
  way: string
  journeys: Journey[]
}

const LANGUAGES: Record<Language, string> = { ts: 'TypeScript', py: 'Python' }

/** Measures the way from an empty folder to an app in review, by the command line and by the portal, in both languages. */
export const measureNewcomer = async ({ rounds = 3 }: { rounds?: number } = {}): Promise<Measured[]> => {
  const prepared = scratchFolder('newcomer-packages-')
  await unpackChromium()
  const browser = await launchChromium()
  const local = await startLocalRun('newcomer')
  try {
    const packages = await preparePackages(prepared.folder)
    const languages = (['ts', 'py'] as const).filter((language) => language === 'ts' || existsSync(packages.wheel))
    const measured: Measured[] = []
    for (const language of languages) {
      const ways = {
        [`command line, ${LANGUAGES[language]}`]: byCommandLine,
        [`portal, ${LANGUAGES[language]}`]: (newcomer: Newcomer) => byPortal(newcomer, browser),
      }
      for (const [way, go] of Object.entries(ways)) {
        const journeys: Journey[] = []
        for (let round = 0; round < rounds; round++) {
          const place = scratchFolder('newcomer-')
          try {
            const folder = path.join(place.folder, 'greeter')
            journeys.push(await go({ baseUrl: local.platform.baseUrl, folder, language, packages }))
          } finally {
            place.remove()
          }
        }
        measured.push({ way, journeys })
      }
    }
    return measured
  } finally {
    await browser.close()
    await local.close()
    prepared.remove()
  }
}

export const newcomerTables = (measured: readonly Measured[]): Table[] => [
  {
    title: 'From an empty folder to an app in review, in the local run',
    columns: ['by', 'packages installed after', 'signed run verified after', 'in review after', '±'],
    rows: measured.map(({ way, journeys }) => {
      const seconds = (of: (journey: Journey) => number) => `${fixed(median(journeys.map(of)), 1)} s`
      return [
        way,
        seconds(({ installed }) => installed),
        seconds(({ verified }) => verified),
        seconds(({ inReview }) => inReview),
        `${fixed(spread(journeys.map(({ inReview }) => inReview)), 1)} s`,
      ]
    }),
    notes: [
      `A program goes through the quickstart without pauses to read or think, from the registration of an account on. Medians of ${measured[0]?.journeys.length ?? 0} rounds, ± half the distance of their quartiles. The agent is the one of the quickstart, on the SDK: it refuses requests without a valid signature, which each round checks.`,
      'Our own packages come from files. `test/e2e/stopwatch.test.ts` installs them from the platform. Those of PyPI that the agent in Python needs come from its registry or from pip’s cache.',
    ],
  },
]
