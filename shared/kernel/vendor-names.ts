/** Vendor names of templates and examples, which stand for the developer's own. */
const PLACEHOLDERS: readonly string[] = ['vendor', 'your-vendor', 'my-vendor', 'your-company', 'my-company']

/** Reports whether a vendor name is a placeholder. A vendor name is fixed once claimed, so nobody can claim one by mistake. */
export const isPlaceholderVendor = (name: string): boolean => PLACEHOLDERS.includes(name)
