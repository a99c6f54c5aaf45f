/**
 * For applications that mount the vault: `new Elysia().use(coffer(deps))`.
 *
 * @module
 */
export { coffer, type Coffer } from './coffer.ts'
export { openVault, type OpenVault, type VaultOptions } from './embed.ts'
