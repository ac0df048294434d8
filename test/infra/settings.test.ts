import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listSettings, settingsText, withSettings } from '#infra/settings/list.ts'
import { SETTINGS_GROUPS, Settings } from '#infra/settings.ts'
import { FUNCTION_SETTING_NAMES, FUNCTION_SETTINGS } from '#shared/kernel/settings/declared.ts'
import { readSettings } from '#shared/kernel/settings.ts'

const written = (value: unknown): string => {
  if (value === undefined) return ''
  return typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value)
}

describe('the list of settings', () => {
  it.each(Object.keys(Settings.shape))('describes the values and effect of %s', (name) => {
    const setting = listSettings().find((one) => one.name === name)
    expect(SETTINGS_GROUPS).toContain(setting?.group)
    expect(setting?.description).toMatch(/^[A-Z‘“].*\.$/)
    expect(setting?.value).not.toBe('')
    expect(settingsText()).toContain(`  ${name}  (`)
  })

  it('has the defaults of a deployment', () => {
    const defaults = new Map(listSettings().map((one) => [one.name, one.default]))
    for (const [name, value] of Object.entries(Settings.parse({}))) {
      const shown = defaults.get(name) ?? ''
      expect([JSON.stringify(value), String(value)]).toContain(shown)
    }
  })

  it.each(['docs/deploy.md', 'README.md'])('matches that of %s; npm run record -- settings writes it', (path) => {
    const page = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    expect(page).toContain('<!-- /settings -->')
    expect(withSettings(page)).toBe(page)
  })

  it('round-trips each declared function setting through the environment', () => {
    const given = Object.fromEntries(
      FUNCTION_SETTING_NAMES.map((name) => [FUNCTION_SETTINGS[name].variable, written(Settings.parse({})[name])]),
    )
    const read = readSettings({ ...given, BASE_URL: 'https://api.example.com', TABLE_NAME: 'table' })
    for (const name of FUNCTION_SETTING_NAMES) expect(read[name], name).toEqual(Settings.parse({})[name])
  })
})
