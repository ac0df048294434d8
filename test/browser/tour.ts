import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { fillSignIn, SUPERADMIN } from '#test/browser/admin/harness.ts'
import { openAs, type Person, type Stage } from '#test/browser/console/harness.ts'
import { type ListedApp, listApp } from '#test/functions/console/marketplace-support.ts'
import { newTeammate, type TestDeveloper } from '#testkit/developers.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { json } from '#testkit/receiver.ts'

/** Records that the pages of a tour show. */
export interface Sights {
  who: Person
  developer: TestDeveloper
  /** Ids by what precedes them in a route. */
  ids: Record<string, string>
  /** Ids of the portal, where they differ. */
  portalIds: Record<string, string>
}

/** A page that visitors open. */
export interface Stop {
  name: string
  /** Address behind `#`. */
  place: string
  surface: 'console' | 'staff' | 'portal'
}

const AGENTS = ['Stock keeper', 'Invoice clerk', 'Travel desk', 'Support triage'] as const

/** Creates a workspace that looks like one in use: agents, runs of all kinds, things that wait, conversations and files. */
export const furnish = async (stage: Stage): Promise<Sights> => {
  const { platform, agent } = stage
  const { deps } = platform
  const body = { user: 'Mara Lindqvist', workspace: 'Kestrel Books', role: 'owner' }
  const who: Person = (await platform.call('POST', '/console/session', { body })).body
  const call = (method: string, at: string, sent?: unknown) =>
    succeeded(platform.call(method, at, { token: who.token, body: sent }))
  const [stock, clerk, travel, triage] = await Promise.all(
    AGENTS.map((name) => installed(deps, { endpoint: agent.url, workspaceId: who.workspace.id, name })),
  )
  if (!stock || !clerk || !travel || !triage) throw new Error('no agents')
  const run = async (app: typeof stock, input: object) => {
    const { body: made } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input } })
    await expect.poll(async () => (await call('GET', `/console/runs/${made.id}`)).status).toBe('running')
    const token = await callbackToken(deps, app, made.id)
    const act = (at: string, sent: object) => platform.call('POST', `/api/v1/${at}`, { token, body: sent })
    return { id: made.id as string, act }
  }
  for (const [app, question, answer] of [
    [clerk, 'Which invoices are overdue?', 'Three invoices are overdue, for €1,240 in total.'],
    [travel, 'Book the 9:40 to Utrecht', 'Booked. The ticket is in your files.'],
    [triage, 'Sort the new mails', '14 mails sorted, 2 need you.'],
    [stock, 'Order what ran out last week', 'Ordered 12 copies of one title.'],
  ] as const) {
    const { id, act } = await run(app, { question })
    await act(`runs/${id}/steps`, { type: 'message', output: { text: answer } })
    await act(`runs/${id}/complete`, { status: 'succeeded', output: { text: answer } })
  }
  const failed = await run(clerk, { question: 'Export the year' })
  await failed.act(`runs/${failed.id}/complete`, {
    status: 'failed',
    error: { code: 'source_unavailable', message: 'The bank’s server didn’t answer.' },
  })
  const { id, act } = await run(stock, { question: 'Order what runs out this week', deadline: '2026-11-27' })
  await act(`runs/${id}/steps`, { type: 'message', output: { text: 'Two titles run out this week. I’ll order both.' } })
  await act('tools/http_fetch/invoke', {
    run_id: id,
    reason: 'Both titles sell out before the weekend.',
    arguments: {
      url: 'https://orders.example.com/v2/purchase-orders',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ supplier: 'Centraal Boekhuis', items: [{ isbn: '9780141036144', quantity: 12 }] }),
    },
  })
  const task = await call('POST', '/console/tasks', {
    title: 'Compare offers for the new shelves',
    description: 'Three suppliers, delivery before **1 December**.\n\n- oak or birch\n- at most €2,000',
    installation_id: travel.installation.id,
  })
  await call('POST', '/console/tasks', { title: 'Count the mugs in the back room', description: '' })
  await platform.call('POST', `/api/v1/tasks/${task.id}/question`, {
    token: travel.token,
    body: { text: 'May the shelves be second-hand?' },
  })
  await platform.call('POST', '/api/v1/tools/notify_user/invoke', {
    token: triage.token,
    body: { arguments: { title: 'Two mails need you', body: 'One is from the landlord, one from the tax office.' } },
  })
  const chat = await call('POST', '/console/conversations', { installation_id: clerk.installation.id })
  await call('POST', `/console/conversations/${chat.id}/messages`, { text: 'Which invoices are overdue?' })
  await call('POST', '/console/files', { name: 'price list.txt', content_type: 'text/plain', content: 'Mug;9.50' })
  await call('POST', '/console/files', { kind: 'folder', name: 'Contracts' })
  await call('POST', '/console/agent-requests', {
    title: 'An agent that plans shifts',
    description: 'From the opening hours and who is away.',
  })
  const schedule = await call('POST', '/console/schedules', {
    installation_id: clerk.installation.id,
    name: 'Overdue invoices',
    start: { input: { question: 'Which invoices are overdue?' } },
    when: { cron: '0 9 * * MON-FRI', time_zone: 'Europe/Amsterdam' },
  })
  await call('POST', '/console/invitations', {})
  const listed = await listApp(
    platform,
    {
      name: 'Shelf planner',
      summary: 'Plans where books stand, from what sells.',
      requested_scopes: ['runs:read', 'runs:write', 'webhooks:manage'],
    },
    { runtime: { type: 'webhook', endpoint: agent.url } },
  )
  const { app, developer } = listed
  await listApp(platform, { name: 'Newsletter writer', summary: 'Drafts a letter from the new arrivals.' })
  await call('POST', '/console/installations', { slug: app.slug })
  await call('PUT', `/console/apps/${app.id}/review`, { rating: 4, text: 'Saved us an afternoon.' })
  return {
    who,
    developer,
    portalIds: await furnishPortal(stage, listed),
    ids: {
      chat: chat.id,
      tasks: task.id,
      agents: stock.installation.id,
      marketplace: app.slug,
      runs: id,
      schedules: schedule.id,
      apps: app.id,
      developers: developer.id,
    },
  }
}

/** Gives a developer what the portal shows: runs, webhooks with deliveries, drafts, teammates and messages. */
const furnishPortal = async (stage: Stage, { app, developer, release }: ListedApp): Promise<Record<string, string>> => {
  const { platform, agent } = stage
  const call = (method: string, at: string, sent?: unknown) =>
    succeeded(developer.call(method, `/api/v1/dev/${at}`, sent))
  await release('1.1.0', { runtime: { type: 'webhook', endpoint: agent.url } })
  const { access_token: token } = await call('POST', `apps/${app.id}/sandbox-token`)
  const subscription = { url: agent.url, events: ['run.*'], description: 'Orders' }
  const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', { token, body: subscription })
  agent.next(json({ status: 'succeeded', output: { shelf: 'B 12', text: 'Between travel and cooking.' } }))
  const { run } = await call('POST', `apps/${app.id}/test-run`, { input: { question: 'Where do atlases go?' } })
  agent.next(json({ status: 'failed', error_code: 'no_stock', error_message: 'There is nothing in stock.' }))
  await call('POST', `apps/${app.id}/test-run`, { input: { question: 'Where do globes go?' } })
  await call('POST', `apps/${app.id}/messages`, { text: 'We moved the agent to another region. Is that all right?' })
  await call('PATCH', `apps/${app.id}`, { summary: 'Plans where each book stands, from what sells.' })
  await call('POST', 'apps', { slug: 'returns', name: 'Returns desk', type: 'agent', requested_scopes: ['runs:write'] })
  await call('POST', 'me/keys', { name: 'CI server', role: 'developer' })
  await newTeammate(platform, developer, 'viewer')
  await platform.drain()
  return { apps: app.id, runs: run.id, webhooks: webhook.id }
}

const FOLDERS = { console: 'console', staff: 'admin', portal: 'developers' } as const

/**
 * Returns a page's stops, as its table of routes names them. A variable is the id of what its route is about, and one without
 * a record leads to a screen that says so.
 */
export const stopsOf = async (surface: Stop['surface'], sights: Sights): Promise<Stop[]> => {
  const ids: Record<string, string> = surface === 'portal' ? { ...sights.ids, ...sights.portalIds } : sights.ids
  const source = path.join(import.meta.dirname, '../../web', FOLDERS[surface], 'client/screens.tsx')
  const routes = [...(await readFile(source, 'utf8')).matchAll(/path: '([^']+)'/g)].map(([, route = '']) => route)
  return routes.map((route) => ({
    surface,
    name: `${surface}${route === '/' ? '-start' : route.replaceAll(/[/:]+/g, '-')}`,
    place: route.replaceAll(/\/([a-z-]+)\/:\w+/g, (_, kind) => `/${kind}/${ids[kind] ?? 'none'}`),
  }))
}

/** Signs in to a page. The session lasts as long as the tab. */
export const enter = async (stage: Stage, surface: Stop['surface'], { who, developer }: Sights): Promise<void> => {
  const { page, url } = stage
  if (surface === 'console') await openAs(stage, who)
  if (surface === 'staff') {
    await page.goto(`${url}/staff#/`)
    await fillSignIn(page, SUPERADMIN.email, SUPERADMIN.password)
  }
  if (surface === 'portal') {
    await page.goto(`${url}/developers#/`)
    await page.getByText('Use a developer key').click()
    await page.getByLabel('Developer key').fill(developer.key)
    await page.getByRole('button', { name: 'Sign in with the key', exact: true }).click()
  }
  await page.locator('nav').first().waitFor()
}

const ADDRESSES = { console: 'app', staff: 'staff', portal: 'developers' } as const

/**
 * Opens a stop from the start, as a link from elsewhere does, and waits until it shows its data.
 * @param before called before the page loads
 */
export const open = async ({ page, url }: Stage, { surface, place }: Stop, before?: () => void): Promise<void> => {
  await page.goto(`${url}/${ADDRESSES[surface]}#${place}`)
  before?.()
  await page.reload()
  await arrive(page, place)
}

/** Waits until a screen shows its data. The gallery shows what others show before that. */
const arrive = async (page: Page, place: string): Promise<void> => {
  await page.locator('main h1').first().waitFor()
  await page.waitForLoadState('networkidle')
  if (place === '/gallery') return
  await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
}
