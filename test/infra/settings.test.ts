import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listSettings, settingsText, withSettings } from '#infra/settings/list.ts'
import { SETTINGS_GROUPS, Settings } from '#infra/settings.ts'

const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8')

describe('the list of settings', () => {
  it.each(Object.keys(Settings.shape))('says what %s takes and does', (name) => {
    const setting = listSettings().find((one) => one.name === name)
    expect(SETTINGS_GROUPS).toContain(setting?.group)
    expect(setting?.description).toMatch(/^[A-Z‘“].*\.$/)
    expect(setting?.value).not.toBe('')
    expect(settingsText()).toContain(`  ${name}  (`)
  })

  it('has the defaults that a deployment gets', () => {
    const told = new Map(listSettings().map((one) => [one.name, one.default]))
    for (const [name, value] of Object.entries(Settings.parse({}))) {
      const shown = told.get(name) ?? ''
      expect([JSON.stringify(value), String(value)]).toContain(shown)
    }
  })

  it('is the one of docs/deploy.md; npm run settings -- --markdown writes it', () =>
    expect(withSettings(page)).toBe(page))
})
