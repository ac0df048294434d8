import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserStage, type Stage } from '#test/browser/console/harness.ts'
import { buildAdmin } from '#web/admin/build.ts'

/** A stage for the staff’s page. */
export const adminStage = (): Stage =>
  browserStage(() => buildAdmin(join(import.meta.dirname, '../../../dist/admin-assets')))

export const SUPERADMIN = { email: 'admin@example.com', password: 'local-admin-password' }

let people = 0

/** Calls the admin API as the superadmin, beside the page. */
export const staffCall = async ({ platform }: Stage, method: string, path: string, body?: unknown) => {
  const headers = { 'x-admin-key': 'local-admin-key' }
  const answer = await platform.call(method, path, { headers, ...(body !== undefined && { body }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

/** Another member of the staff, who signs in with these. */
export const newAdmin = async (stage: Stage, role: 'moderator' | 'superadmin') => {
  const account = { email: `mo${++people}@example.com`, password: 'correct horse battery', name: `Mo ${people}`, role }
  const { id } = await staffCall(stage, 'POST', '/admin/admins', account)
  return { ...account, id: id as string }
}

/** Opens a place of the staff’s page, signed in by the page’s own form. */
export const openAs = async (
  { page, url }: Stage,
  { email, password }: { email: string; password: string },
  place = '/',
): Promise<void> => {
  await page.goto(`${url}/staff#${place}`)
  await fillSignIn(page, email, password)
  await page.getByRole('navigation', { name: 'Staff' }).waitFor()
}

export const fillSignIn = async (page: Page, email: string, password: string): Promise<void> => {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
