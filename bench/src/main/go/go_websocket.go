// SPDX-License-Identifier: Apache-2.0

// One prepared message of gorilla/websocket to many clients: processor time of the whole process for each client.
//
//	go_websocket plain|deflate CLIENTS WARMUP_MILLIS WINDOW_MILLIS WINDOWS <text
//
// Prints its port, waits for the clients, and prints a number of nanoseconds for each window.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

const level = 6

func main() {
	text, err := io.ReadAll(os.Stdin)
	check(err)
	compressed := os.Args[1] == "deflate"
	clients := number(2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	shaken := make(chan *websocket.Conn, clients)
	upgrader := websocket.Upgrader{
		EnableCompression: compressed,
		CheckOrigin:       func(*http.Request) bool { return true },
	}
	go http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		connection, err := upgrader.Upgrade(answer, request, nil)
		check(err)
		if compressed {
			check(connection.SetCompressionLevel(level))
		}
		shaken <- connection
	}))
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	connections := make([]*websocket.Conn, 0, clients)
	for len(connections) < clients {
		connections = append(connections, <-shaken)
	}
	run(connections, text, time.Duration(number(3))*time.Millisecond)
	for i := 0; i < number(5); i++ {
		before := processor()
		messages := run(connections, text, time.Duration(number(4))*time.Millisecond)
		fmt.Printf("%.1f\n", float64(processor()-before)/float64(messages*clients))
	}
}

func run(connections []*websocket.Conn, text []byte, length time.Duration) int {
	messages := 0
	for start := time.Now(); messages == 0 || time.Since(start) < length; messages++ {
		message, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		check(err)
		for _, each := range connections {
			check(each.WritePreparedMessage(message))
		}
	}
	return messages
}

// Nanoseconds, in the kernel and out of it.
func processor() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func number(argument int) int {
	value, err := strconv.Atoi(os.Args[argument])
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_websocket:", err)
		os.Exit(1)
	}
}
