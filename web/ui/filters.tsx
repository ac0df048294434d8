import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Field } from './form.tsx'
import { humanize } from './format.ts'
import { t } from './messages.ts'
import { place, redirect } from './router.ts'

/** Reads a filter from the address. Filters are kept there so that links reproduce the list. */
export const filter = (name: string): string => place.value.query.get(name) ?? ''

export const setFilter = (name: string, value: string): void => {
  const { path, query } = place.value
  const next = new URLSearchParams(query)
  if (value) next.set(name, value)
  else next.delete(name)
  redirect(next.size > 0 ? `${path}?${next}` : path)
}

/** Returns the filters that are set, for use as a query. */
export const filters = <N extends string>(...names: N[]): Partial<Record<N, string>> =>
  Object.fromEntries(names.map((name) => [name, filter(name)]).filter(([, value]) => value)) as Partial<
    Record<N, string>
  >

export const Filters = ({ children }: { children: ComponentChildren }) => <div class="filters">{children}</div>

const labelled = (options: readonly string[]): Record<string, string> =>
  Object.fromEntries(options.map((option) => [option, humanize(option)]))

export const Choice = ({
  name,
  label,
  options,
  all = t('All'),
}: {
  name: string
  label: string
  /** Values, or labels by value. */
  options: readonly string[] | Readonly<Record<string, string>>
  all?: string
}) => (
  <Field label={label}>
    {(field) => (
      <select {...field} value={filter(name)} onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}>
        <option value="">{all}</option>
        {Object.entries(Array.isArray(options) ? labelled(options) : options).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** Search field, applied on submit or blur. */
export const Search = ({ name, label, hint }: { name: string; label: string; hint?: string }) => {
  const set = filter(name)
  const [text, setText] = useState(set)
  useEffect(() => setText(set), [set])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setFilter(name, text.trim())
      }}
    >
      <Field label={label}>
        {(field) => (
          <input
            {...field}
            type="search"
            value={text}
            {...(hint && { placeholder: hint })}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onBlur={() => setFilter(name, text.trim())}
          />
        )}
      </Field>
    </form>
  )
}
