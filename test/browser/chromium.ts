import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/**
 * A headless Chromium that comes with the npm packages; nothing else needs to be installed. Started with our own flags:
 * the package's defaults switch off web security and run everything in one process, for Lambda's sake.
 */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await sparticuz.executablePath(),
    // Containers seldom allow Chromium's own sandbox, and only our own pages are opened.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    headless: true,
  })
