// Package web is the tool WebFetch: it reads pages of the domains that the operator
// listed, and nothing of the networks around this machine.
//
// Guarantees:
//
//  1. A URL is asked for only if its host is on the list, and its port is the scheme's
//     own or is listed with the host; a redirect is checked the same way, and there are
//     at most 5 of them.
//  2. A connection is made to public unicast addresses only. The address is checked
//     as it is connected to, so no answer of a name server, first or later, and no
//     spelling of a host gets around it.
//  3. Nothing goes out but the request: no proxy of the environment, no cookies, no
//     Referer, no credentials.
//  4. Time, redirects, headers, body (as unpacked) and text are bounded; what is cut
//     says so.
//  5. Text arrives as it is, in UTF-8 whatever its charset; HTML as readable text with
//     its links. What is no text is refused by its type.
//  6. Without a listed domain there is no tool.
//
// An entry of the list is a host, host:port, *.domain for every host below a domain
// (not itself), or * for any. The list is the operator's consent: fetching changes
// nothing, so a tool that asks by policy does not ask for it.
package web
