import { filter, setFilter } from '../../../ui/filters.tsx'
import { Field } from '../../../ui/form.tsx'

/** A filter by a day, in the reader's time zone. */
export const Day = ({ name, label }: { name: string; label: string }) => (
  <Field label={label}>
    {(field) => (
      <input
        {...field}
        type="date"
        value={filter(name)}
        onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}
      />
    )}
  </Field>
)
