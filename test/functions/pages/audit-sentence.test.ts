import { build, type Rollup } from 'vite'
import { describe, expect, it } from 'vitest'
import { PLATFORM_ACTIONS, WORKSPACE_ACTIONS } from '#shared/staff/audit/index.ts'
import { deedOf as adminDeed } from '#web/admin/client/ui/audit-deeds.ts'
import { auditCsv, nameOf, screenOf } from '#web/console/client/ui/audit-sentence.ts'
import { readCatalogue } from '#web/messages/catalogues.ts'
import { translationInto } from '#web/messages/compile.ts'
import { messages } from '#web/messages/plugin.ts'
import { type AuditedEntry, deedOf as deed } from '#web/ui/audit-deeds.ts'

/** Returns the module's sentences as a page in German has them. */
const inGerman = async (): Promise<(entry: AuditedEntry) => string | undefined> => {
  const built = (await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [messages('de', translationInto('de', await readCatalogue('de', 'console')))],
    build: {
      write: false,
      minify: false,
      lib: { entry: new URL('../../../web/ui/audit-deeds.ts', import.meta.url).pathname, formats: ['es'] },
    },
  })) as Rollup.RollupOutput[]
  const code = built[0]?.output[0].code ?? ''
  const german: typeof deed = (await import(`data:text/javascript,${encodeURIComponent(code)}`)).deedOf
  return (one) => german(one, String)
}

const deedOf = (one: AuditedEntry) => deed(one, String)
const adminDeedOf = (one: AuditedEntry) => adminDeed(one, String)

const entry = (action: string, fields: Partial<AuditedEntry> = {}): AuditedEntry => ({
  action,
  actor: { type: 'user', id: 'usr_1', name: 'Ada' },
  subject: { type: 'installation', id: 'ins_1', name: 'Ledger' },
  before: null,
  after: null,
  details: { installation_id: 'ins_1', app_id: 'app_1', tool: 'create_invoice', role: 'admin' },
  names: { ins_1: 'Ledger', app_1: 'Ledger', usr_2: 'Grace' },
  ...fields,
})

const plain = (text: string | undefined): string | undefined => text?.replaceAll(/[\u2068\u2069]/g, '')

describe('the sentence of an audit entry', () => {
  it('exists for every action that a workspace records, in English and German, and is never the raw action', async () => {
    const german = await inGerman()
    for (const action of WORKSPACE_ACTIONS) {
      const [en, de] = [plain(deedOf(entry(action))), plain(german(entry(action)))]
      for (const text of [en, de]) {
        expect(text, action).toMatch(/^\p{Ll}\S* ?\S/u)
        expect(text, action).not.toContain(action)
        expect(text, action).not.toMatch(/[{}]|undefined|null/)
      }
      expect(de, action).not.toBe(en)
    }
  })

  it('exists for every action of developers, admins and the operator, on the admins’ page', () => {
    for (const action of [...PLATFORM_ACTIONS, ...WORKSPACE_ACTIONS]) {
      expect(plain(adminDeedOf(entry(action))), action).toMatch(/^\p{Ll}\S* ?\S/u)
    }
    expect(deedOf(entry('something.else'))).toBeUndefined()
  })

  it.each<[string, Partial<AuditedEntry>, string, string]>([
    [
      'consent.approved',
      { details: { app_id: 'app_1', scopes: ['runs:read', 'chat:read'] } },
      'gave Ledger access to this workspace (runs:read, chat:read)',
      'hat Ledger Zugriff auf diesen Workspace gegeben (runs:read, chat:read)',
    ],
    [
      'approval.approved',
      { details: { tool: 'create_invoice', installation_id: 'ins_1', on_behalf_of: 'usr_2' } },
      'approved create_invoice for Ledger in place of Grace',
      'hat create_invoice für Ledger freigegeben und dabei Grace vertreten',
    ],
    [
      'member.role_changed',
      { subject: { type: 'user', id: 'usr_2', name: 'Grace' }, before: { role: 'member' }, after: { role: 'owner' } },
      'changed the role of Grace from member to owner',
      'hat die Rolle von Grace von Mitglied zu Eigentümer geändert',
    ],
    [
      'workspace.primary_agent_changed',
      { before: { value: null }, after: { value: 'ins_1' } },
      'made Ledger the primary agent',
      'hat Ledger zum Hauptagenten gemacht',
    ],
    [
      'budget.changed',
      { after: { subject: 'person', subject_id: 'usr_2' } },
      'changed the budget for the person Grace',
      'hat das Budget für die Person Grace geändert',
    ],
    [
      'grant.revoked',
      { actor: { type: 'app', id: 'app_1', name: 'Ledger' }, details: { reason: 'client_request' } },
      'gave up its access',
      'hat den Zugriff aufgegeben',
    ],
    ['agent.called', { details: {} }, 'gave Ledger a task', 'hat Ledger eine Aufgabe gegeben'],
    [
      'installation.upgraded',
      { before: { value: '1.0.0' }, after: { value: '1.1.0' } },
      'updated Ledger from version 1.0.0 to 1.1.0',
      'hat Ledger von Version 1.0.0 auf 1.1.0 aktualisiert',
    ],
  ])('says which, and whom: %s', async (action, fields, english, german) => {
    expect(plain(deedOf(entry(action, fields)))).toBe(english)
    expect(plain((await inGerman())(entry(action, fields)))).toBe(german)
  })

  it('shows the id of what has no name, and keeps names from changing the sentence around them', () => {
    expect(plain(deedOf(entry('run.cancelled', { names: {} })))).toBe('cancelled a run of ins_1')
    const named = deedOf(entry('run.cancelled', { names: { ins_1: 'Eve\u202e' } }))
    expect(named).toBe('cancelled a run of \u2068Eve\ufffd\u2069')
  })

  it('names an actor without a name by what they are', () => {
    expect(nameOf({ type: 'app', id: 'app_1', name: null })).toBe('An app')
    expect(nameOf({ type: 'platform', id: 'x', name: null })).toBe('The platform')
    expect(nameOf({ type: 'admin', id: 'adm_1', name: null })).toBe('An admin of the platform')
  })

  it('links to the screen of what it is about', () => {
    expect(screenOf({ type: 'run', id: 'run_1', name: null })).toBe('/runs/run_1')
    expect(screenOf({ type: 'user', id: 'usr_1', name: 'Ada' })).toBe('/members')
    expect(screenOf({ type: 'webhook', id: 'wh_1', name: null })).toBeUndefined()
  })
})

it('names in an exported audit can’t become formulas or further cells', () => {
  const csv = auditCsv([
    {
      id: 'aud_1',
      action: 'member.joined',
      actor: { type: 'user', id: 'usr_1', name: '=HYPERLINK("https://x.example")' },
      subject: { type: 'user', id: 'usr_1', name: 'Eve", "x\r\n@y' },
      before: null,
      after: null,
      details: {},
      names: {},
      request_id: null,
      created_at: '2026-11-23T00:00:00.000Z',
    },
  ])
  const [, row = ''] = csv.split('\r\n')
  expect(row).toContain(`"'=HYPERLINK(""https://x.example"")"`)
  expect(csv).toContain('"Eve"", ""x')
})
