package auth

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Subprotocol is what a client offers that wants the members and the way to
// authenticate that are ours. It is the only one the server ever selects.
const Subprotocol = "hitchpost.v1"

// bearerPrefix starts the second subprotocol of a browser, which cannot set a
// header: "bearer." and the token in base64url without padding.
const bearerPrefix = "bearer."

// Secret reads the token a request presents: Authorization: Bearer (the scheme in
// any case), else the pair of subprotocols "hitchpost.v1, bearer.<base64url token>".
// "" when there is none; two Authorization headers are none.
func Secret(r *http.Request) string {
	if headers := r.Header.Values("Authorization"); len(headers) > 0 {
		if len(headers) > 1 {
			return ""
		}
		scheme, rest, _ := strings.Cut(headers[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		return strings.Trim(rest, " ")
	}
	return subprotocolSecret(r)
}

// Offers tells whether the client offered our subprotocol.
func Offers(r *http.Request) bool {
	for _, offer := range offers(r) {
		if offer == Subprotocol {
			return true
		}
	}
	return false
}

func subprotocolSecret(r *http.Request) string {
	if !Offers(r) {
		return ""
	}
	secret := ""
	for _, offer := range offers(r) {
		coded, ok := strings.CutPrefix(offer, bearerPrefix)
		if !ok {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(coded)
		if err != nil || secret != "" {
			return ""
		}
		secret = string(raw)
	}
	return secret
}

// offers lists the subprotocols of a request, in order.
func offers(r *http.Request) []string {
	var all []string
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for offer := range strings.SplitSeq(header, ",") {
			all = append(all, strings.TrimSpace(offer))
		}
	}
	return all
}
