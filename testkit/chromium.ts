import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const MODULES = path.resolve(import.meta.dirname, '../node_modules')
const CACHE = path.join(MODULES, '.cache')
const { version } = JSON.parse(readFileSync(path.join(MODULES, '@sparticuz/chromium/package.json'), 'utf8'))
const FOLDER = path.join(CACHE, `chromium-${version}`)

/**
 * Unpacks the Chromium of the npm package, once per version. The package itself unpacks into the shared temporary folder,
 * where a second process can start the binary while the first one is still writing it (`ETXTBSY`).
 */
export const unpackChromium = async (): Promise<void> => {
  if (existsSync(FOLDER)) return
  mkdirSync(CACHE, { recursive: true })
  const unpacked = mkdtempSync(`${FOLDER}-`)
  const { TMPDIR } = process.env
  process.env.TMPDIR = unpacked
  try {
    await sparticuz.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
  try {
    renameSync(unpacked, FOLDER)
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(FOLDER)) throw error
  }
}

/**
 * Starts a headless Chromium. It doesn't use the package's default flags: they turn off web security and run everything in
 * one process, which suits Lambda but not tests.
 */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: path.join(FOLDER, 'chromium'),
    // Containers rarely allow Chromium's sandbox, and tests open only the platform's pages.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    headless: true,
  })
