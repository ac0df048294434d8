import * as z from 'zod'
import type { SettingDoc, SettingsGroup } from '#shared/kernel/settings/declared.ts'
import { SETTINGS_GROUPS, Settings } from '../settings.ts'

/** A setting as the list shows it. */
export type Listed = SettingDoc & { name: string; value: string; default: string }

const titles: Record<SettingsGroup, string> = {
  address: 'Address',
  rollout: 'Rollout',
  traffic: 'Traffic',
  watching: 'Alarms, logs, metrics',
  data: 'Data',
  providers: 'Telegram and the language model',
  protocol: 'Protocol',
  development: 'Development and emulators',
}

/** Lists every setting in the order of its declaration, with its values, default, effect and cost. */
export const listSettings = (): Listed[] =>
  Object.entries(Settings.shape).map(([name, schema]) => ({
    ...(schema.meta() as unknown as SettingDoc),
    name,
    value: takenBy(schema),
    default: schema instanceof z.ZodDefault ? written(schema.def.defaultValue) : '–',
  }))

/** Returns the values that the innermost schema documents. */
function takenBy(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return takenBy(schema.unwrap() as z.ZodType)
  return String(schema.meta()?.value ?? 'text')
}

const written = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value)

const grouped = (): [title: string, settings: Listed[]][] =>
  SETTINGS_GROUPS.map((group) => [titles[group], listSettings().filter((one) => one.group === group)])

/** Formats the settings for a terminal. */
export const settingsText = (): string =>
  grouped()
    .map(([title, settings]) => {
      const blocks = settings.map(({ name, value, default: byDefault, description, cost }) =>
        [
          `  ${name}  (${value}; default ${byDefault})`,
          `      ${description}`,
          ...(cost === undefined ? [] : [`      Costs: ${cost}.`]),
        ].join('\n'),
      )
      return [title, ...blocks].join('\n')
    })
    .join('\n\n')

const tableOf = (settings: Listed[]): string => {
  const rows = settings.map(({ name, value, default: byDefault, description, cost = '–' }) =>
    [`\`${name}\``, value, byDefault === '–' ? '–' : `\`${byDefault}\``, description, cost].map((cell) =>
      cell.replaceAll('|', '\\|'),
    ),
  )
  return [
    '| setting | takes | default | what it does | what it costs |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n')
}

/** Formats the settings as one Markdown table per group, for docs/deploy.md. */
const settingsMarkdown = (): string =>
  grouped()
    .map(([title, settings]) => `### ${title}\n\n${tableOf(settings)}`)
    .join('\n\n')

/** Matches all settings between the two marks. The first mark may name the settings to show. */
const MARKED = /(<!-- settings(?:: ([\w, ]+))? -->\n\n)[\s\S]*?(\n\n<!-- \/settings -->)/

/** Returns the document with the tables between its two marks replaced. */
export const withSettings = (document: string): string =>
  document.replace(MARKED, (_, begin: string, names: string | undefined, end: string) => {
    const some = names?.split(', ')
    const tables = some ? tableOf(listSettings().filter(({ name }) => some.includes(name))) : settingsMarkdown()
    return begin + tables + end
  })
